import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeBlock } from '../helpers/server-guide.ts';
import { root } from '../helpers/service.ts';

/** Returns the settings of `name=value` lines. A name with several values keeps the last. */
function settingsIn(text: string) {
  const lines = text.split('\n').filter((line) => /^\w+=/.test(line));
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/).slice(0, 2)));
}

const install = codeBlock('useradd');
const environment = settingsIn(codeBlock('PUBLIC_URL='));
const unit = settingsIn(codeBlock('[Service]'));

describe('the unit of the server guide', () => {
  test('runs the command of npm start as a user who does not own the code', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(unit.ExecStart).toBe(`/usr/bin/${scripts.start} --log json`);
    expect(unit.WorkingDirectory).toBe('/opt/reviews/service');
    expect(install).toMatch(/^cd \/opt\/reviews\/service$/m);
    expect(install).toContain('| sudo tar xz --strip-components 1\nsudo npm ci --ignore-scripts');
    expect(install).not.toMatch(/-u reviews|chown/);
  });

  test('lets the service write its data, and nothing else', () => {
    expect(environment.DATA_DIR).toBe('/srv/reviews/data');
    expect(unit).toMatchObject({
      ProtectSystem: 'strict',
      ReadWritePaths: '/srv/reviews',
      ProtectHome: 'yes',
      PrivateTmp: 'yes',
      NoNewPrivileges: 'yes',
      CapabilityBoundingSet: '',
      RestrictNamespaces: 'yes',
      SystemCallFilter: '@system-service',
      // Otherwise a call that Node.js only tries, such as pkey_alloc, would kill it.
      SystemCallErrorNumber: 'EPERM',
    });
    expect(unit).not.toHaveProperty('MemoryDenyWriteExecute');
  });
});

describe('an installation', () => {
  test('keeps secrets out of git', () => {
    const file = 'infra/local/.env';
    const ignored = execFileSync('git', ['check-ignore', '--no-index', file], { cwd: root });
    expect(`${ignored}`).toBe(`${file}\n`);
  });
});
