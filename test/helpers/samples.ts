import type { Route } from '../../shared/base/routes.ts';
import { provideSite, siteContent } from '../../shared/base/site/content.ts';
import { type EntityType, isOwnType } from '../../shared/core/entity/entity-type.ts';
import { resourceOf } from '../../shared/core/http/match-route.ts';
import type { Review } from '../../shared/core/review/review.ts';
import { takeFile } from '../../shared/features/bring/take-file.ts';
import { currentCursor } from '../../shared/features/changes/change-feed.ts';
import { createInvitation } from '../../shared/features/members/invitation.ts';
import { stopUrl } from '../../shared/features/notices/pages/stop-mails.ts';
import { undoUrl } from '../../shared/features/notices/undo-link.ts';
import { insertWebhook } from '../../shared/features/webhooks/webhook-repository.ts';
import { correct } from './names-by-people.ts';
import { makeClient } from './oauth-client.ts';
import { makeModerator, makeUser, newWork } from './world.ts';

// Unless the test has a site of its own.
if (siteContent().pages.length === 0) {
  provideSite({
    logo: '<svg xmlns="http://www.w3.org/2000/svg"/>',
    pages: [
      { slug: 'rules', title: 'Our rules', description: 'Be kind.', html: '<p>Be kind.</p>' },
    ],
  });
}

type Name =
  | 'review_id'
  | 'user_id'
  | 'entity_id'
  | 'client_id'
  | 'token_id'
  | 'token'
  | 'move'
  | 'invitation'
  | 'invitation_id'
  | 'webhook_id'
  | 'rev'
  | 'slot'
  | 'guide'
  | 'group'
  | 'slug';

/** The things that requests name. A path takes them by the names of its parameters. */
export interface Scene extends Record<Name, string> {
  entity_type: EntityType;
  /** A review of the reader, who is signed in. */
  own: string;
  /** Public reviews and entities to look up. */
  ids: readonly string[];
  entities: readonly string[];
  /** The beginning of a name. */
  q: string;
  /** A cursor of the change feed. */
  since: string;
}

type Query = Readonly<Record<string, string | undefined>>;

export interface Sample {
  path: Record<string, string>;
  query: Record<string, string>;
}

/** The end of the link in a mail. */
const stopToken = (
  await stopUrl({ user_id: 'f'.repeat(32), kind: 'news', address: 'ann@example.org' })
).replace(/.*\//, '');

/** The end of the link that undoes a move. */
const undoToken = (await undoUrl({ user_id: 'f'.repeat(32), from: 'f'.repeat(64) })).replace(
  /.*\//,
  '',
);

/** Returns the scene of a public review. Ids that are not given name nothing. */
export function sceneOf(
  review: Pick<Review, 'id' | 'user_id' | 'entity_id' | 'entity_type'>,
  more: Partial<Scene> = {},
): Scene {
  const { id, user_id, entity_id, entity_type } = review;
  const nothing = 'f'.repeat(32);
  return {
    review_id: id,
    user_id,
    entity_id,
    entity_type,
    client_id: nothing,
    token_id: nothing,
    token: stopToken,
    move: undoToken,
    invitation: 'f'.repeat(22),
    invitation_id: nothing,
    webhook_id: nothing,
    rev: '1',
    slot: '1',
    guide: 'oauth',
    group: 'reviews',
    slug: 'rules',
    own: id,
    ids: [id],
    entities: [entity_id],
    q: 'blue',
    since: '',
    ...more,
  };
}

/** Makes a moderator with a review, an application and a webhook, and the review of an author. */
export async function makeScene() {
  const author = await makeUser({ display_name: 'Zoë' });
  const reader = await makeModerator('Ben <b>');
  const review = newWork();
  const id = await author.publishes(review);
  await correct(author, review, { name: 'Blue', about: '', url: '' });
  const { client_id, redirect_uri } = await makeClient(reader);
  const rows = [
    { line: 2, title: 'Blue', rating: 4.5, state: 'bad', why: 'It is broken' } as const,
  ];
  await takeFile(reader.id, {
    site: 'letterboxd',
    rows,
    empty: 1,
    entity_type: review.entity_type,
  });
  const { token, invitation } = await createInvitation({ people: 2, days: 1 });
  const webhook = await insertWebhook(client_id, reader.id, {
    address: 'https://receiver.example/',
    types: ['review.published'],
  });
  const scene = sceneOf(
    { id, user_id: author.id, ...review },
    {
      own: await reader.publishes(),
      client_id,
      webhook_id: webhook.id,
      invitation: token,
      invitation_id: invitation.id,
      since: await currentCursor(),
    },
  );
  return { author, reader, redirect_uri, scene };
}

const byType = ({ entity_id, entity_type }: Scene): Query[] => [{ entity_id, entity_type }];
const byOldest: Query[] = [{}, { before: '400' }];

/** A type of the scene's database, or its own type. */
const groupOf = ({ entity_type }: Scene) => (isOwnType(entity_type) ? 'own' : 'musicdb');

function lists(scene: Scene): Query[] {
  const { entity_id, user_id, entity_type } = scene;
  const filters: Query[] = [{}, { entity_id }, { user_id }, { entity_id, user_id }];
  const narrowed: Query[] = [
    {},
    { entity_type },
    { entity_type: groupOf(scene) },
    { language: 'en' },
  ];
  const contents: Query[] = [{}, { review_type: 'review' }, { review_type: 'rating' }];
  const all = filters.flatMap((filter) =>
    narrowed.flatMap((narrow) => contents.map((content) => ({ ...filter, ...narrow, ...content }))),
  );
  return [
    ...all,
    ...all.map((list) => ({ ...list, sort: 'popularity', include_metadata: 'true' })),
    ...all.map((list) => ({ ...list, sort_order: 'asc', offset: '50' })),
    { entity_id, rating: '4,5', include_metadata: 'true' },
    { user_id, rating: '3', sort: 'popularity' },
  ];
}

/** Queries that change what a route reads, by operation. Others have none. */
const queries: Record<string, readonly Query[] | ((scene: Scene) => Query[])> = {
  'list-reviews': lists,
  'list-revisions': byOldest,
  'batch-get-reviews': ({ ids }) => [{ review_ids: ids.join() }],
  'list-changes': ({ since }) => [{}, { since }, { since, limit: '100' }],
  'list-entities': ({ q, entity_type }) => [
    { q },
    { q, entity_type },
    { sort: 'reviews' },
    { sort: 'rating', entity_type },
    { sort: 'latest' },
  ],
  'get-entity': [{}, { include_metadata: 'true' }],
  'batch-get-entities': ({ entities }) => [{ entity_ids: entities.join() }],
  'list-users': [{}, { offset: '100' }],
  'get-sitemap': [{}, { page: '1' }],
  'get-oembed': ({ entity_id, review_id }) => [
    { url: `https://api.example/ws/entity/${entity_id}` },
    { url: `https://api.example/ws/review/${review_id}` },
  ],
  'show-reviews': (scene) => [
    {},
    { sort: 'popularity' },
    { review_type: 'review' },
    { language: 'en' },
    { entity_type: scene.entity_type },
    { entity_type: groupOf(scene), language: 'en' },
  ],
  'show-things': ({ entity_type }) => [{}, { sort: 'latest' }, { sort: 'rating', entity_type }],
  'find-entity': ({ q, entity_type }) => [{}, { q }, { q, type: entity_type }],
  'show-revisions': byOldest,
  'show-entity': ({ entity_type }) => [
    {},
    { entity_type },
    { rating: '5' },
    { language: 'en' },
    { sort: 'popularity', rating: '3' },
  ],
  'show-user': [{}, { sort: 'popularity' }],
  'list-my-reviews': [{}, { offset: '250' }],
  'get-me': [{}, { inc: 'user_type stats' }],
  // The id of a review names an entity that nobody has reviewed.
  'show-review-form': ({ own, entity_type }) => [{ entity_id: own, entity_type }],
  'publish-review': ({ own, entity_type }) => [{ entity_id: own, entity_type }],
  'show-new-entity': [{ entity_type: 'film' }],
  'show-naming': byType,
  'save-naming': byType,
  'show-proposals': byType,
  'show-thing': ({ q, entity_type }) => [{ entity_type }, { entity_type, q }],
  'decide-thing': byType,
  'show-cases': [{}, { sort: 'popularity', reason: 'spam' }],
};

/** The operations that have queries. */
export const sampled = Object.keys(queries);

/** Returns the requests of a route, the plainest first. */
export function samplesOf({ operation, path, method }: Route, scene: Scene): Sample[] {
  const isOfReader = /\/(edit|delete|appeal)$/.test(path) || method === 'DELETE';
  const values = isOfReader ? { ...scene, review_id: scene.own } : scene;
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as Name);
  const named = Object.fromEntries(parameters.map((name) => [name, values[name]]));
  const own = queries[operation] ?? [{}];
  const all = typeof own === 'function' ? own(scene) : own;
  return all.map((query) => ({ path: named, query: query as Sample['query'] }));
}

/** Returns the paths of a route's requests below the stage, with their queries. */
export function pathsOf(route: Route, scene: Scene): string[] {
  return samplesOf(route, scene).map(({ path, query }) => {
    const filled = resourceOf(route).replaceAll(/\{(\w+)\}/g, (_, name) => `${path[name]}`);
    const search = `${new URLSearchParams(query)}`;
    return search ? `${filled}?${search}` : filled;
  });
}

/** Returns the path of a route's plainest request. */
export const pathOf = (route: Route, scene: Scene) => pathsOf(route, scene)[0] ?? '';

/** Returns the plainest request of a route. */
export function sampleOf(route: Route, scene: Scene): Sample {
  const [sample] = samplesOf(route, scene);
  return sample as Sample;
}
