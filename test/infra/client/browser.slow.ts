import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { launchBrowser } from '../../helpers/chromium.ts';
import { root } from '../../helpers/service.ts';
import { startTestStack } from '../../helpers/stack.ts';

// The client as a page of another site bundles it, and as Node.js runs it: one journey in both.

const browser = await launchBrowser();
const { authUrl } = await startTestStack();
const { makeUser } = await import('../../helpers/world.ts');
const { makeClient, makeCode, redeem } = await import('../../helpers/oauth-client.ts');
const base = `${authUrl}/1`;

/** Bundles a program as browsers run it. */
async function bundled(program: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: join(root, 'infra/client') },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'iife',
    platform: 'browser',
  });
  return { code: outputFiles[0]?.text ?? '', inputs: Object.keys(metafile.inputs) };
}

/** The journey of a person in an application whose access token has expired. */
const journey = `
import { PreconditionFailed, ReviewClient } from './client.ts';
import { Mirror } from './mirror.ts';

globalThis.journey = async (base, grant, entity_id) => {
  const kept = [];
  const api = new ReviewClient(base, { grant: { ...grant, keep: (tokens) => kept.push(tokens) } });
  const [{ user }] = await Promise.all([api.get('/user/me'), api.get('/user/me/reviews')]);
  const { id, etag } = await api.publish({
    entity_id, entity_type: 'work', rating: 5, license_choice: 'CC BY-SA 4.0',
  });
  const { etag: next } = await api.update(id, { rating: 4 }, { ifMatch: etag });
  const refusal = await api.update(id, { rating: 3 }, { ifMatch: etag }).catch((error) => error);
  const ratings = [];
  const path = { review_id: id };
  for await (const { rating } of api.list('/review/{review_id}/revisions', { path })) {
    ratings.push(rating);
  }
  const mirror = new Mirror(api);
  await mirror.update();
  await api.delete('/review/{review_id}', { path });
  return {
    user: user.id,
    refreshes: kept.length,
    isNew: kept[0]?.refresh_token !== grant.refresh_token,
    isTyped: refusal instanceof PreconditionFailed,
    ratings,
    isMirrored: id in mirror.state.reviews,
    isTagged: next !== etag,
  };
};`;

/** A person, and a grant whose access token is not accepted. */
async function grantOf() {
  const person = await makeUser();
  const client = await makeClient(person);
  const code = await makeCode(client, person, { scopes: ['review', 'vote'] });
  const { refresh_token } = (await redeem(client, code)).body;
  const { client_id, client_secret, redirect_uri } = client;
  const grant = { access_token: 'rva_old', refresh_token, client_id, client_secret, redirect_uri };
  return { id: person.id, grant };
}

const expected = (user: string) => ({
  user,
  refreshes: 1,
  isNew: true,
  isTyped: true,
  ratings: [4, 5],
  isMirrored: true,
  isTagged: true,
});

let site: Server | undefined;
afterAll(() => {
  site?.close();
});

test('in a page of another site', async () => {
  const { code } = await bundled(journey);
  site = createServer((request, response) => {
    const isScript = request.url === '/journey.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript ? code : '<!doctype html><title>Site</title><script src=journey.js></script>',
    );
  }).listen(0, '127.0.0.1');
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  const { id, grant } = await grantOf();
  const call = `journey(${JSON.stringify(base)}, ${JSON.stringify(grant)}, "${randomUUID()}")`;
  expect(await page.evaluate(call)).toEqual(expected(id));
});

test('in Node.js', async () => {
  const { code } = await bundled(journey);
  const { id, grant } = await grantOf();
  const run = new Function('globalThis', `${code}; return globalThis.journey;`);
  expect(await run({})(base, grant, randomUUID())).toEqual(expected(id));
});

test('takes at most 8 KB without the mirror, and nothing of others', async () => {
  const program = `export * from './client.ts'; export * from './webhooks.ts';`;
  const { code, inputs } = await bundled(program);
  expect(gzipSync(code).length).toBeLessThan(8 * 1024);
  expect(code.length).toBeGreaterThan(1000);
  expect(inputs.filter((file) => !/^infra\/client\/\w+\.ts$|^<stdin>$/.test(file))).toEqual([]);
});
