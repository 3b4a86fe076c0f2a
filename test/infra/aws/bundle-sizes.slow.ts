import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeIn } from '../../../infra/aws/bundle.ts';
import { importFunction } from '../../../infra/functions.ts';
import { routes } from '../../../shared/base/routes.ts';
import { functionNameOf } from '../../helpers/aws/checks.ts';
import { loadedBytes } from '../../helpers/aws/loaded.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';

// Every byte is read and compiled at each cold start. To allow larger bundles, run `npx node
// test/infra/aws/record-sizes.ts`.
const recorded = JSON.parse(readFileSync(new URL('bundle-sizes.json', import.meta.url), 'utf8'));
const { outdir, code } = (await synthesized()).plain;
const folder = join(outdir, 'functions');
const sizes = readdirSync(folder, { encoding: 'utf8' }).map(
  (name) => [name, Buffer.byteLength(codeIn(join(folder, name)))] as const,
);

test('every bundle has a recorded size, and every size a bundle', () => {
  expect(Object.keys(recorded)).toEqual(sizes.map(([operation]) => operation).sort());
});

test.each(sizes)('%s is at most a tenth larger than recorded: %d bytes', (operation, bytes) => {
  expect(bytes).toBeLessThanOrEqual(1.1 * (recorded[operation] ?? 0));
});

/**
 * Nobody waits for the job of mails, which has the client of SES and a mailer. Pages of the
 * reference load all of it, and no other page does.
 */
const exceptions: Readonly<Record<string, number>> = {
  'send-notices': 700,
  'show-reference': 600,
  'show-endpoints': 600,
};

test.each(sizes.map(([name]) => name))('%s loads less than 512 KB for any request', (name) => {
  const own = routes.filter(({ operation }) => functionNameOf(operation) === name);
  for (const page of own.length > 1 ? own.map(({ operation }) => operation) : ['index']) {
    const most = exceptions[page] ?? exceptions[name] ?? 512;
    expect(loadedBytes(join(folder, name), page)).toBeLessThan(most * 1024);
  }
});

/** These bundles contain the documents that they return. */
const full = ['get-openapi', 'pages-public'];
const light = routes
  .filter(({ table, secrets }) => table === 'none' && !secrets)
  .flatMap(({ operation }) => (full.includes(operation) ? [] : [operation]));

// They use no table, no cookies and no forms. no-route also has the style of pages, the name of the
// site, and all routes: 62 KB with 105 of them, and each adds a fifth of a KB.
test.each([...light.map((operation) => [operation, 46] as const), ['no-route', 72]] as const)(
  '%s, which needs nothing, loads under %i KB',
  (operation, limit) => {
    const name = functionNameOf(operation);
    const page = name === operation ? 'index' : operation;
    expect(loadedBytes(join(folder, name), page)).toBeLessThan(limit * 1024);
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
