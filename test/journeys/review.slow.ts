import { randomUUID } from 'node:crypto';
import type { Scope } from '../../shared/base/routes.ts';
import { type Call, callerOf } from '../helpers/api.ts';
import { choices } from '../helpers/choices.ts';
import { startTestStack } from '../helpers/stack.ts';

const oidcIssuer = 'https://id.example';
const { url, stream } = await startTestStack({ memory: false, oidcIssuer });

const { makeGrant, makeUser, reviewBody, text } = await import('../helpers/world.ts');
const { differences } = await import('../helpers/recount.ts');

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
  await stream.idle();
  expect(await differences()).toEqual([]);
  const { body } = await caller()('GET', '/review?limit=50');
  expect(body.count).toBe(body.reviews.length);
});
