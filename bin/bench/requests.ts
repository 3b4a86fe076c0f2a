import { randomUUID } from 'node:crypto';
import type { DynamoDBRecord } from 'aws-lambda';
import { type EndpointRequest, eventOf } from '../../infra/local/gateway/endpoint-event.ts';
import { authUrl } from '../../shared/base/auth-url.ts';
import { batchGet } from '../../shared/base/table/batch.ts';
import { contribution } from '../../shared/core/aggregates/contribution.ts';
import { project } from '../../shared/core/aggregates/project.ts';
import { copySums } from '../../shared/core/aggregates/sums.ts';
import type { Entity } from '../../shared/core/entity/record.ts';
import { entityKey, reviewKey } from '../../shared/core/keys.ts';
import { presentApplication } from '../../shared/core/oauth/application.ts';
import { insertApplication } from '../../shared/core/oauth/application-repository.ts';
import { tokenResponse } from '../../shared/core/oauth/grant.ts';
import { insertGrant } from '../../shared/core/oauth/grant-repository.ts';
import { revisionTagOf } from '../../shared/core/review/revision-tag.ts';
import { insertUser } from '../../shared/core/user/name-repository.ts';
import { logChanges } from '../../shared/features/changes/public.ts';
import { queueEntities } from '../../shared/features/names/public.ts';
import { keepThings } from '../../shared/features/things/public.ts';
import { csrfToken, readSession, startSession } from '../../shared/pages/session/session.ts';
import type { ListedReview } from './lists.ts';
import type { Cost, CostLimits, Line } from './measure.ts';
import { measure, measureEvent, measureRun, toLine } from './measure.ts';

// A request to each endpoint, with its budget.

/** An account with its own application and a grant to it. */
type Caller = Awaited<ReturnType<typeof newCaller>>;

interface Scene {
  author: Caller;
  voter: Caller;
  /** The session of the author in a browser. */
  session: { cookie: string; csrf: string };
  first: ListedReview;
  some: readonly ListedReview[];
  /** The review that `create-review` publishes. */
  own: string;
  refreshToken: string;
}

interface Step {
  /** Begins with the name of the operation. */
  name: string;
  event(scene: Scene): object;
  budget(scene: Scene): CostLimits;
  /** Returns what later requests need from the response. */
  learn?(body: Record<string, string>): Partial<Scene>;
  /** The change by this request, which the stream's consumer processes. */
  change?: string;
  /** The expected status. Default: 200. */
  status?: number;
}

/** 1,500 characters, the length for which the guides state the cost of a request. */
const text = 'A record that gets better with every listen. '.repeat(34).slice(0, 1_500);

const redirect_uri = 'https://client.example/callback';
const entitiesOf = (some: Scene['some']) => [...new Set(some.map(({ entity_id }) => entity_id))];
const byId = ({ first }: Scene) => ({ path: { review_id: first.id } });
const byEntity = ({ first }: Scene) => ({ path: { entity_id: first.entity_id } });
const byFirstAuthor = ({ first }: Scene) => ({ path: { user_id: first.user.id } });
const asAuthor = ({ author }: Scene) => ({ caller: author.caller });
const byAuthor = (scene: Scene) => ({ ...asAuthor(scene), path: { review_id: scene.own } });
const byVoter = ({ voter, own }: Scene) => ({ caller: voter.caller, path: { review_id: own } });
const deleted = (request: EndpointRequest) => ({ method: 'DELETE', ...request });
const posted = (request: EndpointRequest, body?: object) => ({ method: 'POST', ...request, body });
const voted = (scene: Scene, vote: boolean) => {
  return { method: 'PUT', ...byVoter(scene), body: { vote } };
};
/** A page that the author asks for. */
const atPage = ({ session, own }: Scene, request: EndpointRequest = {}) => {
  return { path: { review_id: own }, headers: { cookie: session.cookie }, ...request };
};
/** A form of a page that the author sends. */
const sent = (scene: Scene, fields: Record<string, string>, request: EndpointRequest = {}) => {
  const { cookie, csrf } = scene.session;
  const headers = { cookie, 'Content-Type': 'application/x-www-form-urlencoded' };
  const body = `${new URLSearchParams({ ...fields, csrf })}`;
  return { method: 'POST', ...atPage(scene, request), headers, body };
};
const newEntity = () => ({ entity_id: randomUUID(), entity_type: 'release_group' });
const twoTrips = { roundTrips: 2 };

/** A request to each endpoint. Each step leaves what the next steps need. */
export const steps: readonly Step[] = [
  step('list-languages', () => ({}), { read: 0, roundTrips: 0 }),
  step('get-health', () => ({}), { read: 4, roundTrips: 2 }),
  // Five reviews by date and popularity, their authors and names, and the most reviewed things of
  // four types.
  step('show-home', () => ({}), { read: 12, roundTrips: 3 }),
  // The order, then 20 reviews by as many authors, then the names of their entities. Each item is
  // half a unit, and 3 are for the rest.
  step('show-reviews', () => ({}), { read: 33, roundTrips: 3 }),
  step(
    'show-reviews, filtered',
    () => ({ query: { entity_type: 'musicdb', sort: 'popularity' } }),
    {
      read: 50,
      roundTrips: 4,
    },
  ),
  step('find-entity', () => ({ query: { q: 'Blue' } }), { read: 12, roundTrips: 2 }),
  step('list-entities', () => ({ query: { q: 'Blue' } }), { read: 12, roundTrips: 2 }),
  step('list-entities, sorted', () => ({ query: { sort: 'reviews' } }), {
    read: 20,
    roundTrips: 2,
  }),
  step('show-things', () => ({ query: { sort: 'latest' } }), { read: 20, roundTrips: 2 }),
  step('get-sitemap', () => ({}), { read: 1, roundTrips: 1 }),
  step('get-sitemap, a page', () => ({ query: { page: '1' } }), { read: 26, roundTrips: 1 }),
  step('get-review', byId, { read: 2, roundTrips: 2 }),
  step('list-revisions', byId, { read: 4 }),
  step('get-revision', ({ first }) => ({ path: { review_id: first.id, rev: '1' } }), { read: 4 }),
  step('get-user', byFirstAuthor, { read: 1, roundTrips: 1 }),
  step(
    'batch-get-reviews',
    ({ some }) => ({ query: { review_ids: some.map(({ id }) => id).join() } }),
    ({ some }) => {
      const authors = new Set(some.map(({ user }) => user.id));
      return { read: some.length + authors.size, roundTrips: 2 };
    },
  ),
  step('get-entity', byEntity, { read: 10, roundTrips: 3 }),
  step('get-entity-feed', byEntity, { read: 55, roundTrips: 4 }),
  step('get-site-feed', () => ({}), { read: 80, roundTrips: 4 }),
  step('get-user-feed', byFirstAuthor, { read: 55, roundTrips: 4 }),
  // The review, two indexes, three others with authors to read after it, and two names.
  step('show-review', byId, { read: 1 + 1 + 3 + 1, roundTrips: 4 }),
  step('show-revisions', byId, { read: 3.5, roundTrips: 3 }),
  // The order, then 20 reviews by as many authors, then the names of their entities.
  step('show-entity', byEntity, { read: 23, roundTrips: 2 }),
  // One author, whose name is half a unit: 0.5 × (20 + 1 + 20) + 3.
  step('show-user', byFirstAuthor, { read: 23.5, roundTrips: 3 }),
  step('show-entity-embed', byEntity, { read: 1, roundTrips: 2 }),
  step(
    'get-oembed',
    ({ first }) => ({ query: { url: `${authUrl()}/entity/${first.entity_id}` } }),
    { read: 1, roundTrips: 2 },
  ),
  step('list-changes', () => ({ query: {} }), { read: 1, roundTrips: 1 }),
  step(
    'batch-get-entities',
    ({ some }) => ({ query: { entity_ids: entitiesOf(some).join() } }),
    ({ some }) => ({ read: entitiesOf(some).length, roundTrips: 1 }),
  ),
  step('create-review', (scene) => posted(asAuthor(scene), newReview()), twoTrips, {
    learn: ({ id = '' }) => ({ own: id }),
    change: 'a publication',
  }),
  step('update-review', (scene) => posted(byAuthor(scene), { rating: 5 }), twoTrips, {
    change: 'an edit',
  }),
  step('put-vote', (scene) => voted(scene, true), twoTrips, { change: 'a vote' }),
  step('put-vote again', (scene) => voted(scene, false), twoTrips),
  step('get-vote', byVoter),
  step('delete-vote', (scene) => deleted(byVoter(scene)), twoTrips),
  step('report-review', (scene) => posted(byVoter(scene)), { roundTrips: 4 }),
  step('get-me', asAuthor),
  step('get-me stats', (scene) => ({ ...asAuthor(scene), query: { inc: 'user_type stats' } })),
  step('update-me', (scene) => posted(asAuthor(scene), { display_name: 'Bench' })),
  step('list-my-reviews', asAuthor),
  step('list-my-applications', asAuthor),
  step('list-my-tokens', asAuthor),
  step('export-me', asAuthor, { read: 16 }),
  // Things of this name are looked for, and read, before one is added.
  step('create-entity', (scene) => posted(asAuthor(scene), newFilm()), { roundTrips: 5 }),
  step('delete-review', (scene) => deleted(byAuthor(scene)), twoTrips),
  step('create-review again', (scene) => posted(asAuthor(scene), newReview()), twoTrips, {
    learn: ({ id = '' }) => ({ own: id }),
  }),
  // The session, then all parts of the form. Its author's last review takes two round trips.
  step('show-review-form', (scene) => atPage(scene, { query: newEntity() }), {
    read: 6,
    roundTrips: 3,
  }),
  // What has no name yet gets one, unless it is that of a moderator. A new account's day is read.
  redirected('publish-review', (scene) => sent(scene, newForm(), { query: newEntity() }), {
    read: 4,
    roundTrips: 3,
  }),
  // The account and its session, two indexes of own reviews, the decisions, then three reviews with
  // their author, then the names of what they are about.
  step('show-account', atPage, { read: 9, roundTrips: 4 }),
  step('show-review-editor', atPage, { read: 3.5, roundTrips: 3 }),
  redirected('save-review', (scene) => sent(scene, { text, rating: '3', revision: tagOf(scene) }), {
    read: 3,
    roundTrips: 4,
  }),
  step('show-review-deletion', atPage, { read: 2.5, roundTrips: 3 }),
  redirected('confirm-review-deletion', (scene) => sent(scene, {}), { read: 3, roundTrips: 3 }),
  {
    name: 'authorizer',
    event: ({ author }) => authorizerEvent(author.tokens.access_token),
    budget: () => ({ read: 0.5, roundTrips: 1 }),
  },
  {
    name: 'authorizer, not ours',
    event: () => authorizerEvent('rva_forged'),
    budget: () => ({ read: 0, roundTrips: 0 }),
    status: 401,
  },
  {
    ...step('create-token', ({ author }) => {
      const { refresh_token } = author.tokens;
      return form(author, { grant_type: 'refresh_token', refresh_token, redirect_uri });
    }),
    learn: ({ refresh_token = '' }) => ({ refreshToken: refresh_token }),
  },
  step('revoke-token', ({ author, refreshToken }) => form(author, { token: refreshToken })),
  step('delete-me', (scene) => deleted(asAuthor(scene))),
];

export function operationOf({ name }: Step): string {
  return name.split(/,? /)[0] ?? '';
}

/** Measures the steps, and the stream's consumer. Throws if the table has no reviews. */
export async function* benchEndpoints(): AsyncGenerator<Line> {
  const { reviews: some } = (await measure('list-reviews', { query: { limit: '25' } })).body;
  if (!some?.length) throw new Error('the table has no reviews to read');
  const author = await newCaller('Author');
  const voter = await newCaller('Voter');
  const session = await newSession(author);
  const scene: Scene = { author, voter, session, first: some[0], some, own: '', refreshToken: '' };
  for (const step of steps) {
    const cost = await measureEvent(operationOf(step), step.event(scene));
    yield toLine(step.name, cost, step.budget(scene), step.status);
    Object.assign(scene, step.learn?.(cost.body));
    if (!step.change) continue;
    const consumed = await measureConsumer([scene.own], step.change);
    yield toLine(`update-aggregates (${step.change})`, consumed, {});
  }
}

/** Measures the stream's consumer on a batch of changes, one of each review. */
export async function measureConsumer(ids: readonly string[], change = ''): Promise<Cost> {
  const reviews = [...(await batchGet(ids.map(reviewKey), { consistent: true })).values()];
  const changes = reviews.map(({ id, version }) => {
    return { id: `${id}`, version: Number(version), kind: 'published' as const };
  });
  const { result: body, ...cost } = await measureRun(async () => {
    await project(reviews.map(contribution));
    if (change === 'a publication') {
      await copySums(reviews.map(({ entity_type }) => `${entity_type}`));
      await queueEntities(reviews as unknown as Entity[]);
      await keepThings(reviews.map(({ entity_id }) => firstCounted(`${entity_id}`)));
    }
    await logChanges(changes);
  });
  return { ...cost, status: 200, body };
}

/** The stream record of the first counts of an entity. */
function firstCounted(entity_id: string): DynamoDBRecord {
  const { pk, sk } = entityKey(entity_id);
  return { dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } };
}

export async function newCaller(display_name: string) {
  const { id: user_id } = await insertUser({ display_name, email: null, musicdb_username: null });
  const application = await insertApplication(user_id, {
    name: 'Bench',
    desc: 'Bench',
    website: 'https://client.example/',
    redirect_uri,
  });
  const { client_id, client_secret } = await presentApplication(application, true);
  const grant = await insertGrant({ user_id, client_id, scopes: ['review', 'vote', 'user'] });
  const tokens = await tokenResponse(grant);
  const caller = { user_id, client_id, scope: grant.scopes.join(' ') };
  return { caller, client_secret: client_secret ?? '', tokens };
}

function step(
  name: string,
  request: (scene: Scene) => EndpointRequest,
  budget: CostLimits | Step['budget'] = {},
  rest: Pick<Step, 'learn' | 'change'> = {},
): Step {
  return {
    ...rest,
    name,
    event: (scene) => eventOf(request(scene)),
    budget: typeof budget === 'function' ? budget : () => budget,
  };
}

/** A step whose answer redirects a browser. */
function redirected(...parts: Parameters<typeof step>): Step {
  return { ...step(...parts), status: 303 };
}

async function newSession({ caller }: Caller) {
  const [cookie = ''] = (await startSession(caller.user_id)).split(';');
  const session = await readSession(eventOf({ headers: { cookie } }));
  return { cookie, csrf: session ? await csrfToken(session) : '' };
}

/** The tag of the first revision of the author's review. */
function tagOf({ own }: Scene): string {
  return revisionTagOf({ id: own, edits: 0 });
}

/** A draft, so that no list of the benchmark has one more review. */
function newForm() {
  return {
    name: 'Blue',
    text,
    rating: '4',
    language: 'en',
    license_choice: 'CC BY-SA 4.0',
    is_draft: 'yes',
  };
}

function newReview() {
  return {
    entity_id: randomUUID(),
    entity_type: 'release_group',
    text,
    rating: 4,
    license_choice: 'CC BY-SA 3.0',
  };
}

const newFilm = () => ({ entity_type: 'film', name: `Film ${randomUUID()}` });

function authorizerEvent(token: string): object {
  return {
    type: 'TOKEN',
    authorizationToken: `Bearer ${token}`,
    methodArn: 'arn:aws:execute-api:us-east-1:000000000000:bench/ws/GET/1/user/me',
  };
}

function form({ caller, client_secret }: Caller, fields: Record<string, string>): EndpointRequest {
  const body = new URLSearchParams({ ...fields, client_id: caller.client_id, client_secret });
  return {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: `${body}`,
  };
}
