import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '../../../infra/local/stack.ts';

test.each([
  ['SITE_ACCENT', '#ffff00', 'SITE_ACCENT #ffff00 has a contrast of 1.01 on a light page'],
  ['SITE_FOLDER', '/nowhere', 'The folder of the site /nowhere cannot be read'],
])('a server does not start with a wrong %s', async (name, value, sentence) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'site-start-'));
  process.env[name] = value;
  await expect(startStack({ port: 0, dataDir, memory: true })).rejects.toThrow(sentence);
  delete process.env[name];
  rmSync(dataDir, { recursive: true });
});
