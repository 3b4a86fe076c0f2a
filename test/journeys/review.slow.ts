import { randomUUID } from 'node:crypto';
import type { Scope } from '../../shared/base/routes.ts';
import { type Call, callerOf } from '../helpers/api.ts';
import { choices } from '../helpers/choices.ts';
import { startTestStack } from '../helpers/stack.ts';

const oidcIssuer = 'https://id.example';
const { url, stream } = await startTestStack({ memory: false, oidcIssuer });

const { makeGrant, makeUser, reviewBody, text } = await import('../helpers/world.ts');
const { differences } = await import('../helpers/recount.ts');
const { setHidden } = await import('../../shared/core/report/decision-repository.ts');
const { deleteGrants } = await import('../../shared/core/oauth/grant-repository.ts');

/** Makes a client that calls the API with an access token. */
async function client(...scopes: Scope[]) {
  const user = await makeUser();
  const { grant, access_token } = await makeGrant(user, scopes);
  return { user, grant, call: caller(access_token) };
}

function caller(token?: string): Call {
  const call = callerOf(url, token);
  return async (...request) => {
    const answer = await call(...request);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    return answer;
  };
}

const anyone = caller();

async function expectExactCounts() {
  await stream.idle();
  expect(await differences()).toEqual([]);
}

test('a review is published, read, voted on, reported, changed, hidden, restored and deleted', async () => {
  const author = await client('review');
  const reader = await client('vote');
  const entity_id = randomUUID();
  const { status, body } = await author.call('POST', '/review/', reviewBody({ entity_id }));
  expect(status).toBe(200);
  const path = `/review/${body.id}`;

  expect(await reader.call('PUT', `${path}/vote`, { vote: true })).toHaveStatus(200);
  expect((await reader.call('GET', `${path}/vote/`)).body.vote.vote).toBe(true);
  expect(await reader.call('POST', `${path}/report`)).toHaveStatus(200);
  expect(await reader.call('POST', `${path}/report`, '')).toHaveStatus(200);
  const change = { text: `${text} Even today.` };
  expect(await author.call('POST', path, change)).toHaveStatus(200);
  const { revision } = (await anyone('GET', `${path}/revisions/1`)).body;
  expect(revision).toMatchObject({ text, votes_positive: 1 });
  expect((await anyone('GET', `${path}/revisions`)).body.revisions).toHaveLength(2);

  await stream.idle();
  const filters = [`?entity_id=${entity_id}`, `?user_id=${author.user.id}`, '?language=en'];
  for (const query of ['', ...filters]) {
    const list = (await anyone('GET', `/review/${query}`)).body;
    expect(list).toMatchObject({ count: 1, reviews: [{ id: body.id, popularity: 1, edits: 1 }] });
  }
  const short = body.id.replaceAll('-', '').toUpperCase();
  expect((await anyone('GET', `/reviews/?review_ids=%7B${short}%7D`)).body).toMatchObject({
    review_id_mapping: { [`{${short}}`]: body.id },
  });
  expect((await anyone('GET', `/user/${author.user.id}`)).body.user.karma).toBe(1);
  expect((await anyone('GET', '/user/')).body.count).toBe(2);

  await setHidden(body.id, true);
  await stream.idle();
  for (const hidden of [path, `${path}/revisions`, `${path}/revisions/1`]) {
    expect(await anyone('GET', hidden)).toHaveStatus(404);
  }
  expect((await anyone('GET', '/review')).body).toMatchObject({ count: 0, reviews: [] });
  expect(await reader.call('DELETE', `${path}/vote`)).toHaveStatus(404);
  await setHidden(body.id, false);
  expect((await anyone('GET', path)).body.review.popularity).toBe(1);

  expect(await reader.call('DELETE', `${path}/vote`)).toHaveStatus(200);
  expect(await author.call('DELETE', path)).toHaveStatus(200);
  expect(await anyone('GET', path)).toHaveStatus(404);
  await expectExactCounts();
  expect((await anyone('GET', '/review')).body.count).toBe(0);
});

test('a token allows its scopes only', async () => {
  const author = await client('review');
  const path = `/review/${(await author.call('POST', '/review', reviewBody())).body.id}`;

  const anonymous = await anyone('PUT', `${path}/vote`, { vote: true });
  expect(anonymous).toHaveStatus(401);
  expect(anonymous.body.error).toBe('invalid_token');
  const forged = await caller('rva_forged')('DELETE', path);
  expect(forged).toHaveStatus(401);
  expect(forged.body.error).toBe('invalid_token');
  const lacking = await author.call('PUT', `${path}/vote`, { vote: true });
  expect(lacking).toHaveStatus(403);
  expect(lacking.body.error).toBe('insufficient_scope');
  expect(lacking.headers.get('www-authenticate')).toContain('scope="vote"');
  const other = await client('review', 'vote', 'user');
  const denied = await other.call('DELETE', path);
  expect(denied).toHaveStatus(403);
  expect(denied.body.error).toBe('access_denied');

  await deleteGrants(author.user.id, author.grant.client_id);
  expect(await author.call('DELETE', path)).toHaveStatus(401);
  expect(await anyone('GET', path)).toHaveStatus(200);
});

test('all errors have one shape', async () => {
  const { call } = await client('review');
  const cases = [
    [400, 'invalid_request', call('POST', '/review', '{')],
    [400, 'invalid_request', anyone('GET', '/review?limit=51')],
    [400, 'invalid_request', anyone('GET', '/review?limit=5&limit=6')],
    [404, 'not_found', anyone('GET', '/nothing')],
    [405, 'method_not_allowed', anyone('DELETE', '/review')],
    [413, 'payload_too_large', call('POST', '/review', `"${'x'.repeat(10 * 1024 * 1024)}"`)],
    [503, 'service_unavailable', anyone('GET', `/reviews?review_ids=${','.repeat(5_000)}`)],
  ];
  for (const [status, error, answer] of cases) {
    const body = { error, description: expect.any(String) };
    expect(await answer).toMatchObject({ status, body });
  }
});

test('eight parallel users leave exact counts', async () => {
  const { random, below } = choices(5);
  const clients = await Promise.all(Array.from({ length: 8 }, () => client('review', 'vote')));
  const entities = Array.from({ length: 5 }, randomUUID);
  const made: { path: string; call: Call }[] = [];
  await Promise.all(
    clients.map(async ({ call }) => {
      for (let i = 0; i < 20; i++) {
        const target = made[below(made.length)];
        const dice = random();
        if (!target || dice < 0.25) {
          const language = ['en', 'de'][below(2)];
          const body = reviewBody({ entity_id: entities[below(5)], language });
          const answer = await call('POST', '/review', body);
          expect([200, 400]).toContain(answer.status);
          if (answer.status === 200) made.push({ path: `/review/${answer.body.id}`, call });
        } else if (dice < 0.7) {
          const answer = await call('PUT', `${target.path}/vote`, { vote: random() < 0.5 });
          expect([200, 400, 403, 404]).toContain(answer.status);
        } else if (dice < 0.9) {
          const body = { text: `${text}${below(3)}`, rating: 1 + below(5) };
          expect([200, 404]).toContain((await target.call('POST', target.path, body)).status);
        } else {
          expect([200, 404]).toContain((await target.call('DELETE', target.path)).status);
        }
      }
    }),
  );
  await expectExactCounts();
  const { body } = await anyone('GET', '/review?limit=50');
  expect(body.count).toBe(body.reviews.length);
});
