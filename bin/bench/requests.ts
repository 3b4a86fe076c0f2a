import { randomUUID } from 'node:crypto';
import { authUrl } from '../../shared/auth-url.ts';
import { type Caller, newCaller } from './caller.ts';
import { type EndpointRequest, eventOf } from './event.ts';
import { type Budget, measure } from './measure.ts';

interface Listed {
  id: string;
  entity_id: string;
  user: { id: string };
}

/** People and reviews that the requests use. */
export interface Scene {
  author: Caller;
  voter: Caller;
  first: Listed;
  some: readonly Listed[];
  /** The review that `create-review` publishes. */
  own: string;
  refreshToken: string;
}

/** A request to an endpoint. */
export interface Step {
  /** Begins with the name of the operation. */
  name: string;
  event(scene: Scene): object;
  budget(scene: Scene): Budget;
  /** Stores what later requests need from the response. */
  learn?(scene: Scene, body: Record<string, string>): void;
  /** The request is expected to fail. */
  isRefused?: boolean;
}

/** 1,500 characters, the length for which the guides state the cost of a request. */
const text = 'A record that gets better with every single listen, and every room. '
  .repeat(23)
  .slice(0, 1_500);

const entitiesOf = (some: Scene['some']) => [...new Set(some.map(({ entity_id }) => entity_id))];
const byId = ({ first }: Scene) => ({ path: { review_id: first.id } });
const byEntity = ({ first }: Scene) => ({ path: { entity_id: first.entity_id } });
const byFirstAuthor = ({ first }: Scene) => ({ path: { user_id: first.user.id } });
const asAuthor = ({ author }: Scene) => ({ caller: author.caller });
const byAuthor = (scene: Scene) => ({ ...asAuthor(scene), path: { review_id: scene.own } });
const byVoter = ({ voter, own }: Scene) => ({ caller: voter.caller, path: { review_id: own } });

/** A request to each endpoint. Each step leaves what the next steps need. */
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
  step('show-review', byId, { read: 2, roundTrips: 2 }),
  // A page of 20 reviews, each by another author.
  step('show-entity', byEntity, { read: 23, roundTrips: 2 }),
  step('show-user', byFirstAuthor, { read: 14, roundTrips: 2 }),
  step('show-entity-embed', byEntity, { read: 1, roundTrips: 1 }),
  step(
    'get-oembed',
    ({ first }) => ({ query: { url: `${authUrl()}/entity/${first.entity_id}` } }),
    { read: 1, roundTrips: 1 },
  ),
  step('list-changes', () => ({ query: {} }), { read: 1, roundTrips: 1 }),
  step(
    'batch-get-entities',
    ({ some }) => ({ query: { entity_ids: entitiesOf(some).join() } }),
    ({ some }) => ({ read: entitiesOf(some).length, roundTrips: 1 }),
  ),
  {
    ...step(
      'create-review',
      (scene) =>
        posted(asAuthor(scene), {
          entity_id: randomUUID(),
          entity_type: 'release_group',
          text,
          rating: 4,
          license_choice: 'CC BY-SA 3.0',
        }),
      { roundTrips: 2 },
    ),
    learn(scene, { id = '' }) {
      scene.own = id;
    },
  },
  step('update-review', (scene) => posted(byAuthor(scene), { rating: 5 }), { roundTrips: 2 }),
  step('put-vote', (scene) => ({ method: 'PUT', ...byVoter(scene), body: { vote: true } }), {
    roundTrips: 2,
  }),
  step('put-vote again', (scene) => ({ method: 'PUT', ...byVoter(scene), body: { vote: false } }), {
    roundTrips: 2,
  }),
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

export function operationOf({ name }: Step): string {
  return name.split(/,? /)[0] ?? '';
}

/** Creates an author and a voter, and reads existing reviews. Throws if there are none. */
export async function newScene(): Promise<Scene> {
  const { reviews: some } = (await measure('list-reviews', { query: { limit: '25' } })).body;
  if (!some?.length) throw new Error('the table has no reviews to read');
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

function posted(request: EndpointRequest, body?: object): EndpointRequest {
  return { method: 'POST', ...request, body };
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
