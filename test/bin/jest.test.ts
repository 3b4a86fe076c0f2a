import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const jest = fileURLToPath(new URL('../../node_modules/jest/bin/jest.js', import.meta.url));

test('Jest says how to run it when an editor starts it by itself', async () => {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const said = await new Promise((resolve) => {
    execFile(process.execPath, [jest, '--showConfig'], { env }, (_, _stdout, stderr) =>
      resolve(stderr),
    );
  });
  expect(said).toMatch(/^Error: These tests need Node\.js 24 .* run them by "npm test"/);
});

test('a file of which no test is asked for ends what it has started', async () => {
  const args = ['--experimental-vm-modules', jest, 'oauth/consent', '-t', 'no such test'];
  const { error, said } = await new Promise<{ error: unknown; said: string }>((resolve) => {
    execFile(process.execPath, args, { timeout: 20_000 }, (error, _, said) =>
      resolve({ error, said }),
    );
  });
  expect(error).toBeNull();
  expect(said).toMatch(/^Tests: +\d+ skipped, \d+ total$/m);
});
