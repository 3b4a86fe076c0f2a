import { callerOf } from '../helpers/api.ts';
import { connectTo } from '../helpers/connect.ts';
import { fresh, missing, start } from '../helpers/service.ts';

const dataDir = fresh('data');
const { SIGNING_KEYS } = process.env;
const startService = () => start(dataDir, { env: { SIGNING_KEYS } });

/** Imports modules that use the stack that runs now. */
async function fixtures() {
  connectTo(dataDir);
  jest.resetModules();
  return import('../helpers/world.ts');
}

test('every acknowledged write survives kill -9, and all counts are right', async () => {
  const service = await startService();
  const { makeGrant, makeUser, reviewBody } = await fixtures();
  const tokens = await Promise.all(
    Array.from({ length: 6 }, async () => {
      return (await makeGrant(await makeUser(), ['review', 'vote'])).access_token;
    }),
  );
  const published: string[] = [];
  /** Access tokens of voters, by review. */
  const votes = new Map<string, string>();
  let killed = false;
  await Promise.all(
    tokens.map(async (token) => {
      const call = callerOf(service.url, token);
      try {
        while (!killed) {
          const { status, body } = await call('POST', '/review', reviewBody());
          if (status !== 200) throw new Error(`${status}`);
          published.push(body.id);
          const other = published.find((one) => one !== body.id && !votes.has(one));
          if (!other) continue;
          const voted = await call('PUT', `/review/${other}/vote`, { vote: true });
          if (voted.status === 200) votes.set(other, token);
          if (published.length >= 60 && !killed) {
            killed = true;
            await service.end('SIGKILL');
          }
        }
      } catch (error) {
        // Requests in flight are cut off. Acknowledged writes must not be lost.
        if (!killed) throw error;
      }
    }),
  );
  expect(published.length).toBeGreaterThanOrEqual(60);
  expect(votes.size).toBeGreaterThan(5);

  const { url } = await startService();
  expect(await missing(url, published)).toEqual([]);
  for (const [id, token] of votes) {
    expect(await callerOf(url, token)('GET', `/review/${id}/vote`)).toHaveStatus(200);
  }
  await fixtures();
  const { differences } = await import('../helpers/recount.ts');
  // The consumers of the new process resume from the old position within moments.
  const deadline = Date.now() + 10_000;
  while ((await differences()).length > 0 && Date.now() < deadline);
  expect(await differences()).toEqual([]);
});
