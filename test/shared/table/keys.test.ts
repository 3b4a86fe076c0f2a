import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { findOrCreateUser } from '../../../shared/account/identity-repository.ts';
import { recordRun } from '../../../shared/background/last-run.ts';
import { beginEpoch } from '../../../shared/changes/log.ts';
import { readRecord } from '../../../shared/entity/record.ts';
import { searchEntities } from '../../../shared/entity/search.ts';
import { correctName } from '../../../shared/moderation/correction.ts';
import { updateNames } from '../../../shared/names/update.ts';
import { findApplication } from '../../../shared/oauth/application-repository.ts';
import { deleteReview } from '../../../shared/review/review-repository.ts';
import type { Item } from '../../../shared/table/item.ts';
import { largestItems } from '../../../shared/table/largest-items.ts';
import { beginBulk } from '../../../shared/transfer/bulk.ts';
import { importRecords } from '../../../shared/transfer/import.ts';
import { kindOfItem } from '../../../shared/transfer/item-record.ts';
import type { User } from '../../../shared/user/user.ts';
import { findUser } from '../../../shared/user/user-repository.ts';
import { recordSending } from '../../../shared/webhooks/run.ts';
import { insertWebhook } from '../../../shared/webhooks/webhook-repository.ts';
import { scanTable } from '../../helpers/items.ts';
import { type Client, makeCode } from '../../helpers/oauth-client.ts';
import { expectSmallItems } from '../../helpers/sizes.ts';
import { applyStream } from '../../helpers/stream.ts';
import { reviewRecord, revisionRecord, sourced } from '../../helpers/transfer.ts';
import { makeGrant, makeModerator, makeUsers, text } from '../../helpers/world.ts';

/** A line of the header: key prefixes, and partitions of the indexes. */
interface Line {
  pk: string;
  sk: string;
  listed: string[];
}

const header = readFileSync(new URL('../../../shared/table/keys.ts', import.meta.url), 'utf8');
const beginning = (text = '') => text.trim().replace(/[<…].*$/s, '');

function readHeader(text: string): Line[] {
  const lines: Line[] = [];
  for (const [, row = ''] of text.matchAll(/^ \* \| (.*) \|$/gm)) {
    const [item, pk, sk, ...rest] = row.split(/\s*\|\s+/);
    const partitions = [...rest.join(' ').matchAll(/\b(all|facet|entity|author) ([A-Z]+#?|<)/g)];
    const listed = partitions.map(([, scope, value]) => `${scope} ${beginning(value)}`);
    if (item?.trim() === '') lines.at(-1)?.listed.push(...listed);
    else lines.push({ pk: beginning(pk), sk: beginning(sk), listed });
  }
  return lines.filter(({ pk }) => /^[A-Z]/.test(pk));
}

/** Lists items that match no line. */
function unknown(items: readonly Item[], lines: readonly Line[]): string[] {
  const isLike = (value: string, start: string) =>
    start.endsWith('#') ? value.startsWith(start) : value === start;
  const faults = items.flatMap((item) => {
    const line = lines.find(({ pk, sk }) => isLike(item.pk, pk) && isLike(item.sk, sk));
    if (!line) return [`no line for ${beginning(item.pk)} ${item.sk}`];
    return ['all', 'facet', 'entity', 'author'].flatMap((scope) => {
      const value = item[scope];
      if (value === undefined) return [];
      const prefix = /^[A-Z]+#?/.exec(String(value))?.[0] ?? '';
      return line.listed.includes(`${scope} ${prefix}`)
        ? []
        : [`${line.pk} ${line.sk} is listed under ${scope} ${prefix || '<id>'}`];
    });
  });
  return [...new Set(faults)];
}

/** Writes one of every kind of item. Returns all items. */
async function live(): Promise<Item[]> {
  const [author, voter] = await makeUsers(2);
  const review_id = await author.publishes();
  await voter.votes(review_id);
  await author.edits(review_id, { rating: 1 });
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'once' };
  await voter.reports(review_id, {}, headers);
  await author.publishes({ is_draft: true });
  await author.publishesHidden();
  const revisions = [revisionRecord({ text: 'A long one. '.repeat(2_000) })];
  await importRecords(sourced([reviewRecord(voter.id, { revisions })]));
  await deleteReview(await author.publishesHidden(), author.id);
  process.env.HELD_REVIEWS = '9';
  await author.edits(review_id, { text: `${text} More.` });
  delete process.env.HELD_REVIEWS;
  const { grant } = await makeGrant(author, ['vote']);
  await insertWebhook(grant.client_id, author.id, {
    address: 'https://receiver.example/',
    types: ['review.published'],
  });
  await makeCode((await findApplication(grant.client_id)) as Client, author);
  const identity = { issuer: 'https://id.example', subject: 'ann', display_name: 'Ann' };
  await findOrCreateUser({ ...identity, email: null, musicdb_username: null });
  // Nothing answers, but the run has taken a turn.
  Object.assign(process.env, {
    MUSICDB_API: 'http://127.0.0.1:9/{type}/{id}',
    MUSICDB_PAGE: 'https://music.example/{type}/{id}',
    MUSICDB_INTERVAL: '1000',
    BOOKDB_SEARCH: 'data:application/json,{"found":[]}#{name}',
    BOOKDB_INTERVAL: '1000',
  });
  jest.spyOn(console, 'warn').mockImplementation(() => {});
  await applyStream();
  await updateNames();
  expect(await searchEntities('bk_author', 'Kafka')).toEqual([]);
  jest.restoreAllMocks();
  await makeModerator('Mia');
  const named = { entity_id: randomUUID(), entity_type: 'work' } as const;
  const words = { about: undefined, url: undefined };
  const correction = { naming: { ...words, name: 'Blue' }, note: '', seen: undefined };
  await correctName(named, correction, (await findUser(author.id)) as User);
  const proposal = { naming: { ...words, name: 'Green' }, note: '' };
  const { version: seen } = (await readRecord(named)) ?? {};
  await correctName(named, { ...proposal, seen }, (await findUser(voter.id)) as User);
  await beginBulk();
  await recordRun('backup');
  await applyStream();
  await recordSending(Date.now());
  await beginEpoch();
  return scanTable();
}

test('the header names all that a journey writes, and its indexes', async () => {
  const lines = readHeader(header);
  const items = await live();
  expect(unknown(items, lines)).toEqual([]);
  const unseen = lines
    .filter(({ sk }) => !/^(REBUILD|COUNTS)#/.test(sk))
    .filter((line) => unknown(items, [line]).length === unknown(items, []).length);
  expect(unseen).toEqual([]);
  await expectSmallItems();
  // A planted mistake is found.
  for (const name of ['CODE#', 'VOTER#', 'REVISION#', 'HIDDEN#']) {
    expect(unknown(items, readHeader(header.replaceAll(name, 'X#')))).not.toEqual([]);
  }
});

/** Items that are not exported, by the start of the sort key, and why. */
const notExported = {
  CLAIM: 'derived from the review, unless it is marked',
  VOTES: 'counted from votes, kept for a month',
  NAME: 'counted from moderators',
  CODE: 'lives for a minute',
  REQUEST: 'lives for minutes',
  IDEMPOTENCY: 'lives for a day',
  ENTITY: 'counted from reviews',
  METADATA: 'a turn to ask a database, unless it has a name',
  NAMED: 'index of names, counted from records of entities',
  PACE: 'temporary',
  SEARCH: 'comes from another database, kept for an hour',
  TOTAL: 'counted from reviews',
  root: 'counted from reviews and users',
  date: 'counted from reviews and users',
  popularity: 'counted from reviews',
  PROJECTION: 'contribution of an item to aggregates',
  COUNTS: 'counts to be added later',
  REBUILD: 'temporary',
  IMPORT: 'temporary',
  DONE: 'times of jobs and backups of this table',
  AT: 'change log of this table, kept for 31 days',
  LANE: 'end of the change log',
  EPOCH: 'begins the change log of this table',
  RUN: 'time of a job of this table',
};

test('every kind of item has a largest size, and only imported texts are larger than 64 KB', () => {
  const kinds = readHeader(header).map(({ sk }) => sk.split('#')[0]);
  expect(Object.keys(largestItems).toSorted()).toEqual([...new Set(kinds)].toSorted());
  const { LONGTEXT, ...others } = largestItems;
  expect(LONGTEXT).toBeLessThan(400_000);
  expect(Math.max(...Object.values(others))).toBe(64 * 1024);
});

test('every kind of item is exported, or listed as left out', () => {
  const untold = (text: string) =>
    readHeader(text).filter(({ sk }) => {
      const isLeftOut = Object.hasOwn(notExported, sk.split('#')[0] ?? '');
      return isLeftOut === (kindOfItem({ sk }) !== undefined);
    });
  expect(untold(header)).toEqual([]);
  // A new kind is found.
  expect(untold(header.replace('| CODE  ', '| NEW   '))).toHaveLength(1);
});
