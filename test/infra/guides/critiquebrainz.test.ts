import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { callerOf } from '../../helpers/api.ts';
import { startTestStack } from '../../helpers/stack.ts';

// The tables of the guide for clients of CritiqueBrainz, against the service.

const { url } = await startTestStack();
const { makeClient } = await import('../../helpers/oauth-client.ts');
const { makeGrant, makeUser, reviewBody } = await import('../../helpers/world.ts');

const guide = readFileSync('infra/guides/critiquebrainz.md', 'utf8');
/** Returns the cells of the rows of a table under a heading. */
function rowsUnder(heading: string) {
  const [, section = ''] = guide.split(`## ${heading}\n`);
  const [table = ''] = /(^\|.*\n)+/m.exec(section.split('\n## ')[0] ?? '') ?? [];
  const rows = table.trimEnd().split('\n').slice(2);
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const entity_id = randomUUID();
let review = '';
let token = '';
let narrow = '';

beforeAll(async () => {
  const ann = await makeUser();
  token = (await makeGrant(ann, ['review', 'vote'])).access_token;
  narrow = (await makeGrant(ann, ['vote'])).access_token;
  const other = (await makeGrant(await makeUser(), ['review'])).access_token;
  const { body } = await callerOf(url, other)('POST', '/review/', reviewBody({ entity_id }));
  review = body.id;
});

const requests = rowsUnder('Look up your requests');

test.each(requests)('%s: %s', async (cell, answer) => {
  const [, code = '', about = ''] = /^`([^`]*)`(.*)$/.exec(`${cell}`) ?? [];
  const [, method = '', path = '', json] = /^([A-Z]+) (\S+)(?: (\{.*\}))?$/.exec(code) ?? [];
  const place = path.replaceAll('REVIEW', review).replaceAll(/\bID\b/g, entity_id);
  const [, status, error] = /^(\d{3})(?: `(\w+)`)?$/.exec(`${answer}`) ?? [];
  const secret = about.includes('expired') ? 'rva_expired' : narrowOr(about);
  const isOwn = method !== 'GET' || path.includes('/vote') || path.includes('/me');
  if (path === '/oauth/token') {
    const { client_id, client_secret } = await makeClient(await makeUser());
    const refresh = { grant_type: 'refresh_token', refresh_token: 'x', client_id, client_secret };
    const body = new URLSearchParams(refresh);
    const response = await fetch(url + place, { method, body });
    const refused = (await response.json()) as { error: string };
    expect([response.status, refused.error]).toEqual([Number(status), error]);
    return;
  }
  const body = json && { ...reviewBody(), ...JSON.parse(json) };
  const got = await callerOf(url, isOwn ? secret : undefined)(method, place, body);
  expect([got.status, got.body.error]).toEqual([Number(status), error]);
});

function narrowOr(about: string) {
  return about.includes('scope') ? narrow : token;
}

test('the table has the requests that clients send', () => {
  expect(requests.length).toBeGreaterThanOrEqual(20);
  const all = requests.map(([request]) => request).join('\n');
  for (const each of ['sort=rating', 'sort=created', 'release_group=', 'bb_author', '/vote']) {
    expect(all).toContain(each);
  }
});

test('every field of the second column is in the answers', async () => {
  const voter = (await makeGrant(await makeUser(), ['vote'])).access_token;
  const call = callerOf(url, voter);
  await call('PUT', `/review/${review}/vote`, { vote: true });
  const listed = await call('GET', `/review/?entity_id=${entity_id}&include_metadata=true`);
  const answers = {
    review: listed.body.reviews[0],
    vote: (await call('GET', `/review/${review}/vote`)).body.vote,
    count: (await call('GET', '/user/')).body.count,
  };
  const names = rowsUnder('Look up your fields').flatMap(([, here = '']) =>
    [...here.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name),
  );
  expect(names.length).toBeGreaterThan(8);
  for (const name of names) {
    let value: unknown = answers;
    for (const part of name.split('.')) {
      expect([name, value]).toEqual([name, expect.objectContaining({ [part]: expect.anything() })]);
      value = (value as Record<string, unknown>)[part];
      if (name === 'review.metadata') break;
    }
  }
});
