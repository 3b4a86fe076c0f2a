/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { measure } from '../../bin/bench/measure.ts';
import { handler as sendHeartbeat } from '../../functions/background/send-heartbeat.ts';
import { languages } from '../../shared/base/languages.ts';
import { type EntityType, entityTypes } from '../../shared/core/entity/entity-type.ts';
import { recordKey } from '../../shared/core/entity/record.ts';
import { entityKey } from '../../shared/core/keys.ts';
import { setApart } from '../../shared/core/review/long-text.ts';
import type { WholeReview } from '../../shared/core/review/review.ts';
import { reviewItem } from '../../shared/core/review/review-writes.ts';
import { recountOwners } from '../../shared/features/audit/recount.ts';
import { currentCursor } from '../../shared/features/changes/change-feed.ts';
import { rebuildThings } from '../../shared/features/things/rebuild-things.ts';
import { choices } from '../helpers/choices.ts';
import { setAttributes, storeItems } from '../helpers/items.ts';
import { publicReads } from '../helpers/routes.ts';
import { type Scene, samplesOf, sceneOf } from '../helpers/samples.ts';
import { applyStream } from '../helpers/stream.ts';
import { idsOf, makeUser, reviewBy, visitor } from '../helpers/world.ts';

// Public GETs of the longest texts, names, lines and addresses that the rules allow, at random.

const { below: number } = choices(Number(process.env.SEED ?? 7));
const one = <T>(...all: T[]) => all[number(all.length)] as T;

/** Characters that take the most bytes: stored, in JSON, in HTML, in an address. */
const wide = ['\u{1F3B5}', '"', '&', '<', '\\', "'", 'é', '\n', '\u0001'];
const shown = wide.slice(0, 7);

const textOf = () => one('', 'x') + one(...wide).repeat(one(4_999, 3_300, 1_200));
/** A text that is longer than people write, as an import keeps it. */
const imported = () => one('x', 'é', '\n').repeat(one(20_001, 150_000));
const nameOf = (length: number) => one(...shown).repeat(length);
/** An address that a person may give: of an https page, at most 2,000 characters. */
const addressOf = () => `https://e.example/?${one('&', "'", 'é', 'a').repeat(1_900)}`;

const entities = Array.from({ length: 30 }, randomUUID);
const types: EntityType[] = ['film' as EntityType, 'work', 'release_group', 'bk_author'];
const reviews: WholeReview[] = [];
let scene: Scene;

beforeAll(async () => {
  const items = [];
  const author = await makeUser({ display_name: '"'.repeat(64) });
  for (let i = 0; i < 150; i++) {
    const { id } = i % 3 === 0 ? author : await makeUser({ display_name: nameOf(64) });
    const entity_id = i % 3 === 1 ? (entities[0] ?? '') : randomUUID();
    const review = reviewBy(id, {
      entity_id,
      entity_type: entity_id === entities[0] ? ('film' as EntityType) : one(...types),
      text: i % 10 === 9 ? imported() : textOf(),
      rating: one(null, 1, 5),
    });
    const source = one(null, { source: nameOf(200), source_url: addressOf() });
    reviews.push({ ...review, ...source });
  }
  for (const each of reviews) {
    const { review, longText } = setApart(each);
    items.push(reviewItem(review), ...(longText ? [longText] : []));
  }
  const named = reviews.map(({ entity_id, entity_type }) => ({ entity_id, entity_type }));
  for (const entity of named) {
    items.push({
      ...recordKey(entity),
      ...entity,
      name: `Blue ${nameOf(195)}`,
      about: nameOf(200),
      by: nameOf(200),
      url: addressOf(),
      origin: 'member',
      written_at: new Date().toISOString(),
      version: 1,
    });
  }
  // Entities that were reviewed in every language, with every number of stars.
  const contents = ['t', ...['r', 'b'].flatMap((kind) => [1, 2, 3, 4, 5].map((n) => kind + n))];
  const counted = [...entityTypes, ...contents, ...languages.map((code) => code.toUpperCase())];
  const counts = Object.fromEntries(counted.map((name) => [name, 100]));
  const byKey = new Map(
    items.map((item) => [JSON.stringify(Object.values(item).slice(0, 2)), item]),
  );
  const since = await currentCursor();
  await storeItems([...byKey.values()]);
  await recountOwners();
  await applyStream();
  await rebuildThings();
  await sendHeartbeat();
  for (const id of entities) await setAttributes(entityKey(id), counts);
  const review = reviews.find(({ entity_id }) => entity_id === entities[0]) as WholeReview;
  const ids = reviews.map(({ id }) => id);
  scene = sceneOf(
    { ...review, user_id: author.id },
    { ids: ids.slice(0, 25), entities: entities.slice(0, 25), since },
  );
}, 600_000);

describe('of the longest reviews and names', () => {
  test('every public GET with every option is answered', async () => {
    const refused = [];
    for (const route of publicReads) {
      const { operation } = route;
      for (const request of samplesOf(route, scene)) {
        const { status, body, ...cost } = await measure(operation, request);
        const { read, commands, roundTrips } = cost;
        const bytes = Buffer.byteLength(typeof body === 'string' ? body : JSON.stringify(body));
        const isLookup = operation === 'batch-get-reviews';
        // It may say that imported texts are too many for one lookup.
        const isRight = status === 200 || (isLookup && status === 400);
        // The change feed reads group after group of what changed, until its page is full.
        const isFeed = operation === 'list-changes';
        const isQuick = commands <= 60 && (isFeed || roundTrips <= 7);
        const isWithin = isQuick && (isLookup || bytes <= 512 * 1024);
        if (isRight && isWithin && read <= (operation === 'list-reviews' ? 120 : 200)) continue;
        refused.push({ operation, request, status, ...cost, bytes });
      }
    }
    expect(refused).toEqual([]);
  }, 600_000);

  test.each<[string, Record<string, string>]>([
    ['by date', {}],
    ['by votes', { sort: 'popularity' }],
    ['of an entity', { entity_id: entities[0] ?? '' }],
  ])(
    'a list %s with names has each review once',
    async (_, filter) => {
      const ids: string[] = [];
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const query = { ...filter, include_metadata: 'true', ...(cursor && { cursor }) };
        const { status, body } = await visitor.lists(query);
        expect(status).toBe(200);
        if (body.next) expect(body.limit).toBe(body.reviews.length);
        ids.push(...idsOf(body.reviews));
        cursor = body.next;
      }
      const expected = reviews.filter(
        ({ entity_id }) => filter.entity_id === undefined || entity_id === filter.entity_id,
      );
      expect(ids.toSorted()).toEqual(expected.map(({ id }) => id).toSorted());
    },
    600_000,
  );
});
