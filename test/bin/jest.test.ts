import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

test('Jest says how to run it when an editor starts it by itself', async () => {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const jest = fileURLToPath(new URL('../../node_modules/jest/bin/jest.js', import.meta.url));
  const said = await new Promise((resolve) => {
    execFile(process.execPath, [jest, '--showConfig'], { env }, (_, _stdout, stderr) =>
      resolve(stderr),
    );
  });
  expect(said).toMatch(/^Error: These tests need Node\.js 24 .* run them by "npm test"/);
});
