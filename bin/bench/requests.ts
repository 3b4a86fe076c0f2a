import { randomUUID } from 'node:crypto';
import { type Caller, newCaller } from './caller.ts';
import { type EndpointRequest, eventOf } from './event.ts';
import { measure } from './measure.ts';
import type { Budget } from './table.ts';

interface Listed {
  id: string;
  entity_id: string;
  user: { id: string };
}

/**
 * People and reviews that the requests of one run are about. The run publishes a review of its own.
 */
export interface Scene {
  author: Caller;
  voter: Caller;
  first: Listed;
  some: readonly Listed[];
  own: string;
  refreshToken: string;
}

/** A request of a run. */
export interface Step {
  /** Begins with the operation. */
  name: string;
  event(scene: Scene): object;
  budget(scene: Scene): Budget;
  /** Takes from the answer what later requests need. */
  learn?(scene: Scene, body: Record<string, string>): void;
  /** The expected answer is a refusal. */
  isRefused?: boolean;
}

/** 1,500 characters: the length for which `costs.ts` says what a request costs. */
const text = 'A record that gets better with every single listen, and every room. '
  .repeat(23)
  .slice(0, 1_500);

/** A request to each endpoint, in an order in which each finds what it needs. */
export const steps: readonly Step[] = [
  step('list-languages', () => ({}), { read: 0, roundTrips: 0 }),
  step('get-health', () => ({}), { read: 3.5, roundTrips: 2 }),
  step('show-home', () => ({}), { read: 8, roundTrips: 2 }),
  step('get-review', byId, { read: 2, roundTrips: 2 }),
  step('list-revisions', byId, { read: 4 }),
  step('get-revision', ({ first }) => ({ path: { review_id: first.id, rev: '1' } }), { read: 4 }),
  step('get-user', byFirstAuthor, { read: 1, roundTrips: 1 }),
  step(
    'batch-get-reviews',
    ({ some }) => ({ query: { review_ids: some.map(({ id }) => id).join() } }),
    ({ some }) => ({
      read: some.length + new Set(some.map(({ user }) => user.id)).size,
      roundTrips: 2,
    }),
  ),
  step('get-entity', byEntity, { read: 10, roundTrips: 3 }),
  step('get-entity-feed', byEntity, { read: 55, roundTrips: 4 }),
  step('get-user-feed', byFirstAuthor, { read: 55, roundTrips: 4 }),
  step('list-changes', () => ({ query: {} }), { read: 1, roundTrips: 1 }),
  step(
    'batch-get-entities',
    ({ some }) => ({ query: { entity_ids: entitiesOf(some).join() } }),
    ({ some }) => ({ read: entitiesOf(some).length, roundTrips: 1 }),
  ),
  {
    ...step('create-review', publication, { roundTrips: 2 }),
    learn(scene, { id = '' }) {
      scene.own = id;
    },
  },
  step('update-review', (scene) => posted(byAuthor(scene), { rating: 5 }), { roundTrips: 2 }),
  step('put-vote', (scene) => voted(scene, true), { roundTrips: 2 }),
  step('put-vote again', (scene) => voted(scene, false), { roundTrips: 2 }),
  step('get-vote', byVoter),
  step('delete-vote', (scene) => ({ method: 'DELETE', ...byVoter(scene) }), { roundTrips: 2 }),
  step('report-review', (scene) => posted(byVoter(scene)), { roundTrips: 4 }),
  step('get-me', asAuthor),
  step('get-me stats', (scene) => ({ ...asAuthor(scene), query: { inc: 'user_type stats' } })),
  step('update-me', (scene) => posted(asAuthor(scene), { display_name: 'Bench' })),
  step('list-my-reviews', asAuthor),
  step('list-my-applications', asAuthor),
  step('list-my-tokens', asAuthor),
  step('export-me', asAuthor, { read: 16 }),
  step('delete-review', (scene) => ({ method: 'DELETE', ...byAuthor(scene) }), { roundTrips: 2 }),
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
    ...step('create-token', ({ author }) =>
      form(author, {
        grant_type: 'refresh_token',
        refresh_token: author.tokens.refresh_token,
        redirect_uri: 'https://client.example/callback',
      }),
    ),
    learn(scene, { refresh_token = '' }) {
      scene.refreshToken = refresh_token;
    },
  },
  step('revoke-token', ({ author, refreshToken }) => form(author, { token: refreshToken })),
  step('delete-me', (scene) => ({ method: 'DELETE', ...asAuthor(scene) })),
];

/** The operation that a step calls. */
export function operationOf({ name }: Step): string {
  return name.split(/,? /)[0] ?? '';
}

/** A scene for a run, with reviews of a page of their own. */
export async function newScene(run: number): Promise<Scene> {
  const query = { offset: `${25 * run}`, limit: '25' };
  const { reviews: some } = (await measure('list-reviews', { query })).body;
  if (!some?.length) throw new Error('there are no reviews to read');
  const [author, voter] = [await newCaller('Author'), await newCaller('Voter')];
  return { author, voter, first: some[0], some, own: '', refreshToken: '' };
}

function step(
  name: string,
  request: (scene: Scene) => EndpointRequest,
  budget: Budget | Step['budget'] = {},
): Step {
  return {
    name,
    event: (scene) => eventOf(request(scene)),
    budget: typeof budget === 'function' ? budget : () => budget,
  };
}

function entitiesOf(some: Scene['some']): string[] {
  return [...new Set(some.map(({ entity_id }) => entity_id))];
}

function byId({ first }: Scene): EndpointRequest {
  return { path: { review_id: first.id } };
}

function byEntity({ first }: Scene): EndpointRequest {
  return { path: { entity_id: first.entity_id } };
}

function byFirstAuthor({ first }: Scene): EndpointRequest {
  return { path: { user_id: first.user.id } };
}

function asAuthor({ author }: Scene): EndpointRequest {
  return { caller: author.caller };
}

function byAuthor({ author, own }: Scene): EndpointRequest {
  return { caller: author.caller, path: { review_id: own } };
}

function byVoter({ voter, own }: Scene): EndpointRequest {
  return { caller: voter.caller, path: { review_id: own } };
}

function voted(scene: Scene, vote: boolean): EndpointRequest {
  return { method: 'PUT', ...byVoter(scene), body: { vote } };
}

function posted(request: EndpointRequest, body?: object): EndpointRequest {
  return { method: 'POST', ...request, body };
}

function publication(scene: Scene): EndpointRequest {
  return posted(asAuthor(scene), {
    entity_id: randomUUID(),
    entity_type: 'release_group',
    text,
    rating: 4,
    license_choice: 'CC BY-SA 3.0',
  });
}

function authorizerEvent(token: string): object {
  return {
    type: 'TOKEN',
    authorizationToken: `Bearer ${token}`,
    methodArn: 'arn:aws:execute-api:us-east-1:000000000000:bench/ws/GET/1/user/me',
  };
}

function form({ caller, client_secret }: Caller, fields: Record<string, string>): EndpointRequest {
  const sent = new URLSearchParams({ ...fields, client_id: caller.client_id, client_secret });
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return { method: 'POST', headers, body: `${sent}` };
}
