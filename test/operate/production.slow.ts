import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { admin, fresh, makeToken, publish, root, start } from '../helpers/service.ts';

interface Lock {
  packages: Record<string, { dev?: boolean; link?: boolean }>;
}

/** Copies the code as `npm ci --omit=dev` installs it, without packages for development. */
function install(code: string) {
  for (const name of ['package.json', 'bin', 'functions', 'infra', 'shared']) {
    cpSync(join(root, name), join(code, name), { recursive: true });
  }
  const { packages }: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  for (const [path, { dev = false, link = false }] of Object.entries(packages)) {
    if (dev || link || !path.startsWith('node_modules/') || !existsSync(join(root, path))) continue;
    cpSync(join(root, path), join(code, path), {
      recursive: true,
      // Packages within a package are listed separately.
      filter: (from) => from === join(root, path) || !from.endsWith('/node_modules'),
    });
  }
}

/** Returns the size in bytes on a disk with blocks of 4 KB. */
function sizeOf(path: string): number {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return Math.ceil(stat.size / 4096) * 4096;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 4096);
}

test('production needs less than 63 MB, and runs the service and the admin tool', async () => {
  const code = fresh('code');
  mkdirSync(dirname(code), { recursive: true });
  install(code);
  expect(existsSync(join(code, 'node_modules/node'))).toBe(false);
  expect(sizeOf(code) / 1024 ** 2).toBeLessThan(63);
  // The lines above could copy everything.
  expect(existsSync(join(code, 'node_modules/jest'))).toBe(false);

  const dataDir = fresh('data');
  const service = await start(dataDir, { code });
  const token = await makeToken(dataDir, code);
  await publish(service.url, token);
  for (const path of [
    '/ws/health',
    '/ws/docs/oauth',
    '/ws/docs/api',
    '/ws/1/openapi.json',
    '/ws/account/sign-in',
  ]) {
    const { status } = await fetch(new URL(path, service.url));
    expect([path, status]).toEqual([path, 200]);
  }
  const out = fresh('all.jsonl.gz');
  const backup = fresh('backup');
  await admin(dataDir, ['export', '--out', out], code);
  expect(await admin(dataDir, ['import', out], code)).toMatchObject({ is_dry_run: false });
  await admin(dataDir, ['backup', backup], code);
  expect(await admin(dataDir, ['audit'], code)).toMatchObject({ differences: 0 });
  expect(service.err).toEqual([]);
  expect(await service.end('SIGTERM')).toBe(0);
});
