import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { routes } from '../../../shared/routes.ts';
import { synthesized } from './synthesized.ts';

// Every byte is read and compiled at each cold start. To allow more: npx node test/infra/aws/record-sizes.ts
const recorded: Record<string, number> = JSON.parse(
  readFileSync(new URL('bundle-sizes.json', import.meta.url), 'utf8'),
);
const { outdir } = (await synthesized()).plain;
const sizes = readdirSync(join(outdir, 'functions'), { encoding: 'utf8' }).map(
  (operation) =>
    [operation, statSync(join(outdir, 'functions', operation, 'index.mjs')).size] as const,
);

test('every bundle has a recorded size, and nothing else has', () => {
  expect(Object.keys(recorded)).toEqual(sizes.map(([operation]) => operation).sort());
});

test.each(sizes)('%s is at most a tenth larger than recorded: %d bytes', (operation, bytes) => {
  expect(bytes).toBeLessThanOrEqual(1.1 * (recorded[operation] ?? 0));
  expect(bytes).toBeLessThan(512 * 1024);
});

const light = routes.filter(({ table }) => table === 'none').map(({ operation }) => operation);

test.each([...light, 'no-route'])('%s, which needs nothing, is under 32 KB', (operation) => {
  expect(Object.fromEntries(sizes)[operation]).toBeLessThan(32 * 1024);
});
