import { randomUUID } from 'node:crypto';
import type { Caller } from './caller.ts';
import { type BenchRequest, eventOf } from './event.ts';
import type { Budget } from './table.ts';

/** What the requests of one run are about: who sends them, some reviews that there are, and the one that the run publishes. */
export interface Scene {
  author: Caller;
  voter: Caller;
  some: readonly { id: string; entity_id: string; user: { id: string } }[];
  /** How many reviews there are. */
  count: number;
  own: string;
  refreshToken: string;
}

/** A request of a run. */
export interface Step {
  /** Begins with the operation. */
  name: string;
  event(scene: Scene): object;
  budget?(scene: Scene): Budget;
  /** Takes from the answer what later requests need. */
  learn?(scene: Scene, body: Record<string, string>): void;
  /** That it is refused is what is expected. */
  isRefused?: boolean;
}

/** 1,500 characters: the length for which `costs.ts` says what a request costs. */
const text = 'A record that gets better with every single listen, and every room. '
  .repeat(23)
  .slice(0, 1_500);
const redirect_uri = 'https://client.example/callback';

/** A request to each endpoint, in an order in which each finds what it needs. */
export const steps: readonly Step[] = [
  get('list-languages', () => ({}), { read: 0, roundTrips: 0 }),
  get('get-health', () => ({}), { read: 4.5, roundTrips: 2 }),
  get('get-review', ({ some }) => ({ path: { review_id: some[0]?.id } }), {
    read: 2,
    roundTrips: 2,
  }),
  get('list-revisions', ({ some }) => ({ path: { review_id: some[0]?.id } }), { read: 4 }),
  get('get-revision', ({ some }) => ({ path: { review_id: some[0]?.id, rev: '1' } }), { read: 4 }),
  get('get-user', ({ some }) => ({ path: { user_id: some[0]?.user.id } }), {
    read: 1,
    roundTrips: 1,
  }),
  {
    ...get('batch-get-reviews', ({ some }) => ({
      query: { review_ids: some.map(({ id }) => id).join() },
    })),
    budget: ({ some }) => ({
      read: some.length + new Set(some.map(({ user }) => user.id)).size,
      roundTrips: 2,
    }),
  },
  get('get-entity', ({ some }) => ({ path: { entity_id: some[0]?.entity_id } }), {
    read: 10,
    roundTrips: 3,
  }),
  get('get-entity-feed', ({ some }) => ({ path: { entity_id: some[0]?.entity_id } }), {
    read: 55,
    roundTrips: 4,
  }),
  get('get-user-feed', ({ some }) => ({ path: { user_id: some[0]?.user.id } }), {
    read: 55,
    roundTrips: 4,
  }),
  get('list-changes', () => ({ query: {} }), { read: 1, roundTrips: 1 }),
  {
    ...get('batch-get-entities', ({ some }) => ({
      query: { entity_ids: entitiesOf(some).join() },
    })),
    budget: ({ some }) => ({ read: entitiesOf(some).length, roundTrips: 1 }),
  },
  {
    ...send('create-review', 'POST', ({ author }) => ({
      caller: author.caller,
      body: {
        entity_id: randomUUID(),
        entity_type: 'release_group',
        text,
        rating: 4,
        license_choice: 'CC BY-SA 3.0',
      },
    })),
    budget: () => ({ roundTrips: 2 }),
    learn(scene, { id }) {
      scene.own = id ?? '';
    },
  },
  send('update-review', 'POST', (scene) => ({ ...byAuthor(scene), body: { rating: 5 } }), 2),
  send('put-vote', 'PUT', (scene) => ({ ...byVoter(scene), body: { vote: true } }), 2),
  send('put-vote again', 'PUT', (scene) => ({ ...byVoter(scene), body: { vote: false } }), 2),
  get('get-vote', byVoter),
  send('delete-vote', 'DELETE', byVoter, 2),
  send('report-review', 'POST', byVoter, 4),
  get('get-me', ({ author }) => ({ caller: author.caller })),
  get('get-me stats', ({ author }) => ({
    caller: author.caller,
    query: { inc: 'user_type stats' },
  })),
  send('update-me', 'POST', ({ author }) => ({
    caller: author.caller,
    body: { display_name: 'Bench' },
  })),
  get('list-my-reviews', ({ author }) => ({ caller: author.caller })),
  get('list-my-applications', ({ author }) => ({ caller: author.caller })),
  get('list-my-tokens', ({ author }) => ({ caller: author.caller })),
  get('export-me', ({ author }) => ({ caller: author.caller }), { read: 16 }),
  send('delete-review', 'DELETE', byAuthor, 2),
  {
    name: 'authorizer',
    event: ({ author }) => authorizerEvent(author.tokens.access_token),
    budget: () => ({ read: 0.5, roundTrips: 1 }),
  },
  {
    name: 'authorizer, not ours',
    event: () => authorizerEvent('rva_forged'),
    budget: () => ({ read: 0, roundTrips: 0 }),
    isRefused: true,
  },
  {
    name: 'create-token',
    event: ({ author: { client_id, client_secret, tokens } }) =>
      form({
        grant_type: 'refresh_token',
        refresh_token: tokens.refresh_token,
        redirect_uri,
        client_id,
        client_secret,
      }),
    learn(scene, { refresh_token }) {
      scene.refreshToken = refresh_token ?? '';
    },
  },
  {
    name: 'revoke-token',
    event: ({ author: { client_id, client_secret }, refreshToken }) =>
      form({ token: refreshToken, client_id, client_secret }),
  },
  send('delete-me', 'DELETE', ({ author }) => ({ caller: author.caller })),
];

/** Pages of lists, each of 50 where there are so many. */
export const pages: readonly Step[] = [
  get('list-reviews', () => ({ query: {} })),
  get('list-reviews, none', () => ({ query: { limit: '0' } })),
  get('list-reviews, far', ({ count }) => ({ query: { offset: `${Math.floor(count / 2)}` } })),
  get('list-reviews, popular', () => ({ query: { sort: 'popularity' } })),
  get('list-reviews, English', () => ({ query: { language: 'en' } })),
  get('list-reviews, author', ({ some }) => ({ query: { user_id: some[0]?.user.id } })),
  get('list-reviews, entity', ({ some }) => ({ query: { entity_id: some[0]?.entity_id } })),
  get('list-users', () => ({ query: {} })),
];

/** The operation that a step calls. */
export function operationOf({ name }: Step): string {
  return name.split(/,? /)[0] ?? '';
}

/** A scene for a run, with reviews of a page of their own. */
export async function newScene(
  run: number,
  call: (operation: string, event: object) => Promise<{ body?: string } | undefined>,
  newCaller: (name: string) => Promise<Caller>,
): Promise<Scene> {
  const query = { offset: `${25 * run}`, limit: '25' };
  const answer = await call('list-reviews', eventOf({ query }));
  const { reviews, count } = JSON.parse(answer?.body ?? '{}');
  if (!reviews?.length) throw new Error('there are no reviews to read');
  const [author, voter] = [await newCaller('Author'), await newCaller('Voter')];
  return { author, voter, some: reviews, count, own: '', refreshToken: '' };
}

function get(name: string, request: (scene: Scene) => BenchRequest, budget: Budget = {}): Step {
  return { name, event: (scene) => eventOf(request(scene)), budget: () => budget };
}

function send(
  name: string,
  method: string,
  request: (scene: Scene) => BenchRequest,
  roundTrips?: number,
): Step {
  return {
    name,
    event: (scene) => eventOf({ method, ...request(scene) }),
    budget: () => (roundTrips === undefined ? {} : { roundTrips }),
  };
}

function entitiesOf(some: Scene['some']): string[] {
  return [...new Set(some.map(({ entity_id }) => entity_id))];
}

function byAuthor({ author, own }: Scene): BenchRequest {
  return { caller: author.caller, path: { review_id: own } };
}

function byVoter({ voter, own }: Scene): BenchRequest {
  return { caller: voter.caller, path: { review_id: own } };
}

function authorizerEvent(token: string): object {
  return {
    type: 'TOKEN',
    authorizationToken: `Bearer ${token}`,
    methodArn: 'arn:aws:execute-api:us-east-1:000000000000:bench/ws/GET/1/user/me',
  };
}

function form(fields: Record<string, string>): object {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return eventOf({ method: 'POST', headers, body: new URLSearchParams(fields).toString() });
}
