import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { bundleFunctions } from '../../../infra/aws/bundle.ts';
import { routes } from '../../../shared/routes.ts';

// Every byte is read and compiled at each cold start. To allow more: npx node test/infra/aws/record-sizes.ts
const recorded: Record<string, number> = JSON.parse(
  readFileSync(new URL('bundle-sizes.json', import.meta.url), 'utf8'),
);
const folder = mkdtempSync(join(tmpdir(), 'review-service-sizes-'));
afterAll(() => rmSync(folder, { recursive: true }));
const sizes = [...bundleFunctions(folder)].map(
  ([operation, { bytes }]) => [operation, bytes] as const,
);

test('every bundle has a recorded size, and nothing else has', () => {
  expect(Object.keys(recorded)).toEqual(sizes.map(([operation]) => operation).sort());
});

test.each(sizes)('%s is at most a tenth larger than recorded: %d bytes', (operation, bytes) => {
  expect(bytes).toBeLessThanOrEqual(1.1 * (recorded[operation] ?? 0));
});

const light = routes.filter(({ table }) => table === 'none').map(({ operation }) => operation);

// No table, no cookies and no forms; no-route has the style of the pages.
test.each([...light, 'no-route'])('%s, which needs nothing, is under 40 KB', (operation) => {
  expect(Object.fromEntries(sizes)[operation]).toBeLessThan(40 * 1024);
});
