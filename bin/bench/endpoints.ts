import { randomUUID } from 'node:crypto';
import { handler as authorizer } from '../../functions/authorizer.ts';
import { handler as listReviews } from '../../functions/list-reviews.ts';
import { contribution } from '../../shared/aggregates/contribution.ts';
import { project } from '../../shared/aggregates/project.ts';
import { presentApplication } from '../../shared/oauth/application.ts';
import { insertApplication } from '../../shared/oauth/application-repository.ts';
import { tokenResponse } from '../../shared/oauth/grant.ts';
import { insertGrant } from '../../shared/oauth/grant-repository.ts';
import { scopes } from '../../shared/routes.ts';
import { batchGet } from '../../shared/table/batch.ts';
import { reviewKey } from '../../shared/table/keys.ts';
import { insertUser } from '../../shared/user/user-repository.ts';
import { type BenchRequest, type Cost, measure, measureRun } from './measure.ts';
import { type Budget, type Line, type Run, toLine } from './table.ts';

const text = 'A record that gets better with every single listen, and with every room.';
const redirect_uri = 'https://client.example/callback';

/** Takes requests, by operation, in an order in which each finds what it needs; each of them is a line. */
export async function benchEndpoints(
  runs: number,
  onLine: (line: Line) => void,
  isTimed = true,
): Promise<Line[]> {
  const taken = new Map<string, Run[]>();
  const ownP50 = isTimed ? { ownP50: 1 } : {};
  async function take(name: string, request: BenchRequest, budget: Budget = {}): Promise<Cost> {
    const [operation = name] = name.split(' ');
    const { handler } = await import(`../../functions/${operation}.ts`);
    return add(
      name,
      await measure(handler, request),
      request.method ? budget : { ...budget, ...ownP50 },
    );
  }
  function add(name: string, cost: Cost, budget: Budget): Cost {
    taken.set(name, [...(taken.get(name) ?? []), { cost, budget }]);
    return cost;
  }

  for (let run = 0; run < runs; run++) {
    const author = await newCaller('Author');
    const voter = await newCaller('Voter');
    const { body: list } = await measure(listReviews, {
      query: { offset: `${25 * run}`, limit: '25' },
    });
    const some: { id: string; entity_id: string; user: { id: string } }[] = list.reviews;
    const [first] = some;
    if (!first) throw new Error('there are no reviews to read');
    const one = { path: { review_id: first.id } };
    const review_ids = some.map(({ id }) => id).join();
    const authors = new Set(some.map(({ user }) => user.id)).size;

    await take('list-languages', {}, { read: 0, roundTrips: 0 });
    await take('get-review', one, { read: 2, roundTrips: 2 });
    await take('list-revisions', one, { read: 4 });
    await take('get-revision', { path: { ...one.path, rev: '1' } }, { read: 4 });
    await take('get-user', { path: { user_id: first.user.id } }, { read: 1, roundTrips: 1 });
    const bulk = { read: some.length + authors, roundTrips: 2 };
    await take('batch-get-reviews', { query: { review_ids } }, bulk);

    const { entity_id } = first;
    await take('get-entity', { path: { entity_id } }, { read: 10, roundTrips: 3 });
    const entity_ids = [...new Set(some.map((each) => each.entity_id))];
    await take(
      'batch-get-entities',
      { query: { entity_ids: entity_ids.join() } },
      { read: entity_ids.length, roundTrips: 1 },
    );

    const { caller } = author;
    const publish = {
      entity_id: randomUUID(),
      entity_type: 'release_group',
      text,
      rating: 4,
      license_choice: 'CC BY-SA 3.0',
    };
    const { body: made, write } = await take(
      'create-review',
      { method: 'POST', caller, body: publish },
      { roundTrips: 2 },
    );
    await take(
      'create-review under a key',
      {
        method: 'POST',
        caller: voter.caller,
        body: publish,
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() },
      },
      { write: write + 4, roundTrips: 2 },
    );
    const own = { path: { review_id: made.id as string } };
    await aggregate('update-aggregates (a publication)', made.id);
    await take(
      'update-review',
      { method: 'POST', caller, ...own, body: { rating: 5 } },
      { roundTrips: 2 },
    );
    const ballot = { caller: voter.caller, ...own };
    await take('put-vote', { method: 'PUT', ...ballot, body: { vote: true } }, { roundTrips: 2 });
    await aggregate('update-aggregates (a vote)', made.id);
    await take(
      'put-vote again',
      { method: 'PUT', ...ballot, body: { vote: false } },
      { roundTrips: 2 },
    );
    await take('get-vote', ballot);
    await take('delete-vote', { method: 'DELETE', ...ballot }, { roundTrips: 2 });
    await take('report-review', { method: 'POST', ...ballot });
    await take('get-me', { caller });
    await take('get-me stats', { caller, query: { inc: 'user_type stats' } });
    await take('update-me', { method: 'POST', caller, body: { display_name: 'Bench' } });
    await take('list-my-reviews', { caller });
    await take('list-my-applications', { caller });
    await take('list-my-tokens', { caller });
    await take('delete-review', { method: 'DELETE', caller, ...own }, { roundTrips: 2 });

    const { client_id, client_secret, tokens } = author;
    const client = { client_id, client_secret };
    add('authorizer', await authorize(tokens.access_token), {
      read: 0.5,
      roundTrips: 1,
      ...ownP50,
    });
    add('authorizer, not ours', await authorize('rva_forged'), { read: 0, roundTrips: 0 });
    const refreshed = await take('create-token', {
      ...form({
        grant_type: 'refresh_token',
        refresh_token: tokens.refresh_token,
        redirect_uri,
        ...client,
      }),
    });
    await take('revoke-token', form({ token: refreshed.body.refresh_token, ...client }));
    await take('delete-me', { method: 'DELETE', caller });
  }
  const lines = [...taken].map(([name, runs]) => toLine(name, runs));
  for (const line of lines) onLine(line);
  return lines;

  /** What the stream's consumer does about one change of a review. */
  async function aggregate(name: string, review_id: string): Promise<void> {
    const [item = {}] = (await batchGet([reviewKey(review_id)], { consistent: true })).values();
    const { result: _, ...cost } = await measureRun(() => project([contribution(item)]));
    add(name, { ...cost, status: 200, body: undefined }, {});
  }
}

/** A user with an application of its own that may act for it. */
async function newCaller(display_name: string) {
  const { id: user_id } = await insertUser({ display_name, email: null, musicdb_username: null });
  const application = await insertApplication(user_id, {
    name: 'Bench',
    desc: 'Bench',
    website: 'https://client.example/',
    redirect_uri,
  });
  const { client_id, client_secret } = await presentApplication(application, true);
  const tokens = await tokenResponse(
    await insertGrant({ user_id, client_id, scopes: [...scopes] }),
  );
  const caller = { user_id, client_id, scope: scopes.join(' ') };
  return { caller, client_id, client_secret, tokens };
}

/** What the authorizer allows or refuses; a refusal is what is expected of a token that is not ours. */
async function authorize(token: string): Promise<Cost> {
  const { result: _, ...cost } = await measureRun(() =>
    authorizer({
      type: 'TOKEN',
      authorizationToken: `Bearer ${token}`,
      methodArn: 'arn:aws:execute-api:us-east-1:000000000000:bench/ws/GET/1/user/me',
    }).catch((error: Error) => {
      if (error.message !== 'Unauthorized') throw error;
    }),
  );
  return { ...cost, status: 200, body: undefined };
}

function form(fields: Record<string, unknown>): BenchRequest {
  const body = new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [name, `${value}`]),
  );
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return { method: 'POST', headers, body: body.toString() };
}
