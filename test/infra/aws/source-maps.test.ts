import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { bundleFunctions } from '../../../infra/aws/bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'review-service-source-maps-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('source maps are uploaded only where they are used', () => {
  const files = (hasSourceMaps?: boolean) => {
    const directory = bundleFunctions(join(folder, `${hasSourceMaps}`), hasSourceMaps).get(
      'get-review',
    )?.directory;
    return readdirSync(directory ?? '');
  };
  expect(files()).toEqual(['index.mjs']);
  expect(files(true)).toEqual(['index.mjs', 'index.mjs.map']);
});
