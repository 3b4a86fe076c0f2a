import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { importFunction } from '../../../infra/functions.ts';
import { routes } from '../../../shared/routes.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';

// Every byte is read and compiled at each cold start. To allow larger bundles, run `npx node
// test/infra/aws/record-sizes.ts`.
const recorded: Record<string, number> = JSON.parse(
  readFileSync(new URL('bundle-sizes.json', import.meta.url), 'utf8'),
);
const { outdir, code } = (await synthesized()).plain;
const sizes = readdirSync(join(outdir, 'functions'), { encoding: 'utf8' }).map(
  (operation) =>
    [operation, statSync(join(outdir, 'functions', operation, 'index.cjs')).size] as const,
);

test('every bundle has a recorded size, and every size a bundle', () => {
  expect(Object.keys(recorded)).toEqual(sizes.map(([operation]) => operation).sort());
});

test.each(sizes)('%s is at most a tenth larger than recorded: %d bytes', (operation, bytes) => {
  expect(bytes).toBeLessThanOrEqual(1.1 * (recorded[operation] ?? 0));
  expect(bytes).toBeLessThan(512 * 1024);
});

/** These bundles contain the documents that they return. */
const full = ['get-openapi', 'show-docs', 'show-guide', 'show-reference'];
const light = routes
  .filter(({ table, secrets }) => table === 'none' && !secrets)
  .flatMap(({ operation }) => (full.includes(operation) ? [] : [operation]));

// They use no table, no cookies and no forms; no-route also has the style of the pages and the name
// of the site.
test.each([...light.map((operation) => [operation, 46] as const), ['no-route', 60] as const])(
  '%s, which needs nothing, is under %i KB',
  (operation, limit) => {
    expect(Object.fromEntries(sizes)[operation]).toBeLessThan(limit * 1024);
  },
);

/** Returns the descriptions of a schema and of its parts. */
function descriptionsIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const { type, description } = part as { type?: string; description?: string };
  return type === 'description' ? [`${description}`] : Object.values(part).flatMap(descriptionsIn);
}

test('no bundle contains descriptions for the OpenAPI document', async () => {
  const modules = await Promise.all(routes.map(({ operation }) => importFunction(operation)));
  const texts = modules.flatMap(({ docs, response }) =>
    docs ? [docs.summary, ...descriptionsIn(response)] : [],
  );
  // Shorter descriptions may occur in code for another reason.
  const said = [...new Set(texts)].filter((text) => text.length > 25);
  expect(said).toEqual(
    expect.arrayContaining(['The text, verbatim; `null` if there is only a rating']),
  );
  const others = sizes.map(([operation]) => operation).filter((name) => !full.includes(name));
  const faults = others.flatMap((operation) => {
    const text = code(operation);
    return said.filter((each) => text.includes(each)).map((each) => `${operation}: ${each}`);
  });
  expect(faults).toEqual([]);
});
