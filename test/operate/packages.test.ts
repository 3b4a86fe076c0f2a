import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../helpers/service.ts';

interface Package {
  dev?: boolean;
  hasInstallScript?: boolean;
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const lock: { packages: Record<string, Package> } = JSON.parse(read('package-lock.json'));

test('an installation without packages for development needs no script, and reports to nobody', () => {
  const names = Object.entries(lock.packages)
    .filter(([, { dev, hasInstallScript }]) => hasInstallScript && !dev)
    .map(([path]) => path.split('node_modules/').at(-1));
  // Reports each installation to its maker, unless the project says no.
  expect(names.filter((name) => name !== '@scarf/scarf')).toEqual([]);
  expect(JSON.parse(read('package.json')).scarfSettings).toEqual({ enabled: false });
});

test('the compiler is left out of production, though a package there could use it', () => {
  expect(lock.packages['node_modules/typescript']).toMatchObject({ dev: true });
  // Otherwise the next installation asks for it again.
  expect(read('.npmrc')).toMatch(/^legacy-peer-deps=true$/m);
});

describe('third-party code of the pipeline', () => {
  test('is kept current: packages, actions and images', () => {
    const { updates } = parse(read('.github/dependabot.yml'));
    const watched = updates.map((each: Record<string, string>) => [
      each['package-ecosystem'],
      each.directory,
    ]);
    expect(watched).toEqual([
      ['npm', '/'],
      ['github-actions', '/'],
      ['docker', '/infra/local'],
      ['docker-compose', '/infra/local'],
      ['devcontainers', '/'],
    ]);
    const files = ['package.json', '.github/workflows', 'infra/local/Dockerfile'];
    for (const file of [...files, 'infra/local/compose.yaml', '.devcontainer/devcontainer.json']) {
      expect([file, existsSync(join(root, file))]).toEqual([file, true]);
    }
  });
});
