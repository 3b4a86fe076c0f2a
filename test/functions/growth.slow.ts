/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { randomUUID } from 'node:crypto';
import { type Cost as Measured, measure, measureEvent } from '../../bin/bench/measure.ts';
import { withoutRecords } from '../../bin/bulk.ts';
import { handler as sendHeartbeat } from '../../functions/background/send-heartbeat.ts';
import { eventOf } from '../../infra/local/gateway/endpoint-event.ts';
import type { Route } from '../../shared/base/routes.ts';
import { batchDelete, batchWrite } from '../../shared/base/table/batch.ts';
import { recordKey } from '../../shared/core/entity/record.ts';
import { resourceOf } from '../../shared/core/http/match-route.ts';
import { voteKey } from '../../shared/core/keys.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import { recountOwners } from '../../shared/features/audit/recount.ts';
import { currentCursor } from '../../shared/features/changes/change-feed.ts';
import { logChanges } from '../../shared/features/changes/log.ts';
import { proposalWrite } from '../../shared/features/names/proposal.ts';
import { rebuildThings } from '../../shared/features/things/rebuild-things.ts';
import { readItem, scanTable } from '../helpers/items.ts';
import { ownReads, publicReads, visitedPages } from '../helpers/routes.ts';
import { type Sample, samplesOf, sceneOf } from '../helpers/samples.ts';
import { signInAs } from '../helpers/visit.ts';
import { makeWidestAccount } from '../helpers/widest-account.ts';
import { type Person, text } from '../helpers/world.ts';

// Every GET with n and with 4 n of everything that it could touch. A read without a bound costs
// more with more of something, long before it exceeds the budget of its request.

/** Beyond every page, and beyond the length at which a list gets rank trees. */
const n = 450;

/**
 * The most that a request may cost more with 4 n of everything. A tree may gain a level in each of
 * seven types.
 */
const slack = { read: 16, commands: 8, bytes: 16 * 1024 };

/** Answers that grow until they are full, which other tests check. */
const growing = ['export-me', 'download-data', 'get-sitemap'];

type Cost = Record<keyof typeof slack, number>;

/** An empty table with so many of everything, and what each sample costs then. */
async function costsOf(many: number) {
  await batchDelete(await scanTable());
  const { member, scene } = await withoutRecords(() => makeEverything(many));
  const since = await currentCursor();
  await logChanges(
    scene.everyId.map((id) => ({
      id,
      version: 1,
      kind: 'published',
      entity_id: scene.entity_id,
    })),
  );
  const all = { ...scene, since };
  const costs = new Map<string, Cost>();
  for (const route of publicReads) {
    for (const sample of samplesOf(route, all)) {
      costs.set(nameOf(route, sample), await stranger(route, sample));
    }
  }
  for (const route of [...visitedPages, ...ownReads]) {
    for (const sample of samplesOf(route, all)) {
      costs.set(`${nameOf(route, sample)} signed in`, await reader(route, sample, member));
    }
  }
  return costs;
}

/** The name of a sample without its ids, which differ. */
function nameOf({ operation }: Route, { path, query }: Sample) {
  const names = Object.entries({ ...path, ...query }).map(([name, value]) =>
    value.length > 20 ? name : `${name}=${value}`,
  );
  return [operation, ...names].join(' ');
}

async function stranger({ operation }: Route, sample: Sample) {
  return costOf(operation, sample, await measure(operation, sample));
}

async function reader(route: Route, sample: Sample, { id, caller }: Person) {
  const { operation } = route;
  if (!route.isPage)
    return costOf(operation, sample, await measure(operation, { ...sample, caller }));
  const { cookie } = await signInAs(id);
  const event = { ...eventOf({ ...sample, headers: { cookie } }), resource: resourceOf(route) };
  return costOf(operation, sample, await measureEvent(operation, event));
}

function costOf(operation: string, sample: Sample, answer: Measured) {
  const { status, read, commands, body } = answer;
  expect([operation, sample, status]).toEqual([operation, sample, 200]);
  return { read, commands, bytes: sizeOf(body) };
}

const sizeOf = (body: unknown) =>
  Buffer.byteLength(typeof body === 'string' ? body : JSON.stringify(body));

/** So many reviews, votes, reports, cases, decisions, names, proposals … of one reader. */
async function makeEverything(many: number) {
  const entity_id = randomUUID();
  const width = { many, ownText: text, text, entity_id };
  const { member, others, own, client_id, webhook_id } = await makeWidestAccount(width);
  const [review, ...rest] = others;
  const [mine] = own;
  if (!review || !mine) throw new Error('there are no reviews');
  // A review with a vote of everybody.
  const vote = await readItem(voteKey(review.id, member.id));
  // The thing that the review is about has a name, too.
  const named = [review.entity_id, ...others.map(({ id }) => id)];
  const records = named.map((id, i) => ({
    entity_id: id,
    entity_type: 'work' as const,
    name: `Blue ${i}`,
    origin: 'member' as const,
    user_id: member.id,
    author: `NAMER#${member.id}`,
    date: `${new Date(i).toISOString()}#${id}`,
    written_at: new Date(i).toISOString(),
    version: 1,
  }));
  const proposals = records.map((record) => {
    const write = proposalWrite(record, { user_id: member.id, note: 'So it is called.' });
    return (write as { Put: { Item: object } }).Put.Item;
  });
  await batchWrite(
    [
      ...rest.map(({ user_id }) => ({
        ...vote,
        ...voteKey(review.id, user_id),
        author: `VOTER#${user_id}`,
        user_id,
      })),
      ...records.map((record) => ({ ...recordKey(record), ...record })),
      ...proposals,
    ].map((put) => ({ put })),
  );
  await recountOwners();
  await rebuildTotals(undefined, { inTransactions: true });
  await rebuildThings();
  await sendHeartbeat();
  const ids = others.map(({ id }) => id);
  const scene = sceneOf(review, {
    ids: ids.slice(0, 25),
    entities: [entity_id, ...own.slice(0, 24).map((each) => each.entity_id)],
    own: mine.id,
    client_id,
    webhook_id,
  });
  return { member, scene: { ...scene, everyId: ids } };
}

describe('a GET costs the same', () => {
  test('with n and with 4 n of everything', async () => {
    const few = await costsOf(n);
    const many = await costsOf(4 * n);
    expect([...many.keys()]).toEqual([...few.keys()]);
    const grown = [...many].flatMap(([name, cost]) => {
      const before = few.get(name) as Cost;
      const isGrowing = growing.some((operation) => name.startsWith(operation));
      const more = (Object.keys(slack) as (keyof Cost)[])
        .filter((what) => cost[what] - before[what] > slack[what])
        .map((what) => `${what} ${before[what]} → ${cost[what]}`);
      return isGrowing || more.length === 0 ? [] : [`${name}: ${more.join(', ')}`];
    });
    expect(grown).toEqual([]);
  }, 1_200_000);
});
