/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { measure, measureEvent } from '../../bin/bench/measure.ts';
import { withoutStream } from '../../bin/bulk.ts';
import { handler as sendHeartbeat } from '../../functions/background/send-heartbeat.ts';
import { eventOf } from '../../infra/local/endpoint-event.ts';
import { rebuildTotals } from '../../shared/aggregates/rebuild.ts';
import { currentCursor } from '../../shared/changes/change-feed.ts';
import { logChanges } from '../../shared/changes/log.ts';
import { recordKey } from '../../shared/entity/record.ts';
import { resourceOf } from '../../shared/http/match-route.ts';
import { proposalWrite } from '../../shared/moderation/proposal.ts';
import { recountOwners } from '../../shared/review/recount.ts';
import { type Route, routes } from '../../shared/routes.ts';
import { batchDelete, batchWrite } from '../../shared/table/batch.ts';
import { voteKey } from '../../shared/table/keys.ts';
import { rebuildThings } from '../../shared/things/keep-things.ts';
import { readItem, scanTable } from '../helpers/items.ts';
import {
  ownSamples,
  publicSamples,
  type Sample,
  type Scene,
  withoutSample,
} from '../helpers/samples.ts';
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
async function costsOf(many: number): Promise<Map<string, Cost>> {
  await batchDelete(await scanTable());
  const { member, scene } = await withoutStream(() => makeEverything(many));
  const since = await currentCursor();
  await logChanges(
    scene.everyId.map((id) => ({
      id,
      version: 1,
      kind: 'published',
      entity_id: scene.review.entity_id,
    })),
  );
  const all = { ...scene, since };
  const strangers = publicSamples(all);
  const own = ownSamples(all);
  expect(withoutSample([strangers, own])).toEqual([]);
  const costs = new Map<string, Cost>();
  for (const [operation, samples] of Object.entries(strangers)) {
    for (const sample of samples) {
      costs.set(nameOf(operation, sample), await stranger(operation, sample));
      if (isPage(operation)) {
        costs.set(
          `${nameOf(operation, sample)} signed in`,
          await reader(operation, sample, member),
        );
      }
    }
  }
  for (const [operation, samples] of Object.entries(own)) {
    for (const sample of samples) {
      costs.set(nameOf(operation, sample), await reader(operation, sample, member));
    }
  }
  return costs;
}

const isPage = (operation: string) =>
  routes.find((route) => route.operation === operation)?.base === '' &&
  /^(show|find)-/.test(operation);

/** The name of a sample without its ids, which differ. */
function nameOf(operation: string, { path, query }: Sample): string {
  const names = Object.entries({ ...path, ...query }).map(([name, value]) =>
    value.length > 20 ? name : `${name}=${value}`,
  );
  return [operation, ...names].join(' ');
}

async function stranger(operation: string, sample: Sample): Promise<Cost> {
  const { status, read, commands, body } = await measure(operation, sample);
  expect([operation, sample, status]).toEqual([operation, sample, 200]);
  return { read, commands, bytes: sizeOf(body) };
}

async function reader(operation: string, sample: Sample, { id, caller }: Person): Promise<Cost> {
  const route = routes.find((each) => each.operation === operation) as Route;
  const { cookie } = await signInAs(id);
  const headers = { cookie };
  const { status, read, commands, body } =
    route.base === ''
      ? await measureEvent(operation, {
          ...eventOf({ ...sample, headers }),
          resource: resourceOf(route),
        })
      : await measure(operation, { ...sample, caller });
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
  const records = others.map(({ id }, i) => ({
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
  await recountOwners(() => {});
  await rebuildTotals(() => {}, { inTransactions: true });
  await rebuildThings();
  await sendHeartbeat();
  const ids = others.map(({ id }) => id);
  const scene: Omit<Scene, 'since'> = {
    review,
    ids: ids.slice(0, 25),
    entities: [entity_id, ...own.slice(0, 24).map((each) => each.entity_id)],
    own: mine.id,
    client_id,
    webhook_id,
    q: 'blue',
  };
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
