import { setTimeout as sleep } from 'node:timers/promises';
import { type StreamSpecification, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { isRebuilding } from '../shared/aggregates/lock.ts';
import { rebuildTotals } from '../shared/aggregates/rebuild.ts';
import { chunks } from '../shared/chunks.ts';
import { type EntityType, entityTypes } from '../shared/entity/entity-type.ts';
import { licenses } from '../shared/review/licenses.ts';
import { newReview, type Review } from '../shared/review/review.ts';
import { publication } from '../shared/review/review-writes.ts';
import { table, tableName } from '../shared/table/client.ts';
import { keyString } from '../shared/table/item.ts';
import { entityKey } from '../shared/table/keys.ts';
import { keyOf, merged, mergeInto } from '../shared/table/merge.ts';
import { maxActions, transact, type Write } from '../shared/table/transact.ts';
import { userItem } from '../shared/user/user-repository.ts';
import type { Vote } from '../shared/vote/vote.ts';
import { importedVote } from '../shared/vote/vote-repository.ts';
import { showProgress } from './progress.ts';
import { randomNumbers } from './random.ts';

/** The times of the data set: fixed, so that it is the same whenever it is made. */
const from = Date.UTC(2024, 0, 1);
const to = Date.UTC(2026, 0, 1);

/** Seconds to wait for another rebuild. Without a sign of life its lock expires after 60. */
const patience = 90;

const languages = ['en', 'en', 'en', 'en', 'de', 'de', 'fr', 'es', 'ja', 'pt'];
const words =
  `record chorus guitar rhythm quiet voice story page author melody light winter sound edition crowd stage
  chapter river silence opening honest bright uneven patient careful early later second whole small strange`.split(
    /\s+/,
  );

/** An account in the making. */
interface Author {
  id: string;
  languages: string[];
}

/** An entity in the making. */
interface Subject {
  id: string;
  type: EntityType;
}

/**
 * Fills the table by bulk writes: users, and reviews of entities with claims and votes, all counts
 * right. A few entities have most of the reviews and a few users write most of them. The totals are
 * rebuilt at the end.
 */
export async function seed(options: {
  reviews: number;
  users: number;
  entities?: number;
  seed: number;
}) {
  const random = randomNumbers(options.seed);
  const number = (below: number) => Math.floor(random() * below);
  const pick = <T>(from: readonly T[]): T => from[number(from.length)] as T;
  const skewed = <T>(from: readonly T[]): T => from[Math.floor(from.length * random() ** 3)] as T;
  const uuid = () => toUuid([number(2 ** 32), number(2 ** 32), number(2 ** 32), number(2 ** 32)]);

  const authors = Array.from({ length: options.users }, (): Author => {
    return { id: uuid(), languages: [pick(languages), 'en'] };
  });
  const entities = options.entities ?? Math.ceil(options.reviews / 20);
  const subjects = Array.from({ length: entities }, (): Subject => {
    return { id: uuid(), type: pick(entityTypes) };
  });
  if (options.reviews > authors.length * subjects.length * 0.5) {
    throw new Error('each user reviews an entity only once: ask for more users or entities');
  }
  const owners = new Map<string, Write>();
  mergeInto(owners, authors.map(authorWrite));
  mergeInto(
    owners,
    subjects.map(({ id }) => ({ Put: { Item: { ...entityKey(id), version: 1 } } })),
  );
  const claimed = new Set<string>();
  let votes = 0;

  function claim(): [Author, Subject] {
    let author = skewed(authors);
    let subject = skewed(subjects);
    while (claimed.has(author.id + subject.id)) [author, subject] = [pick(authors), pick(subjects)];
    claimed.add(author.id + subject.id);
    return [author, subject];
  }

  function makeReview(): Write[] {
    const [author, subject] = claim();
    const time = new Date(from + Math.floor(random() * (to - from))).toISOString();
    const hasText = random() < 0.8;
    const id = uuid();
    const written = newReview(author.id, {
      entity_id: subject.id,
      entity_type: subject.type,
      text: hasText ? sentence(30 + number(120)) : null,
      rating: !hasText || random() < 0.7 ? 1 + number(5) : null,
      language: pick(author.languages),
      license_choice: pick(licenses).id,
      is_draft: false,
    });
    const review = { ...written, id, created: time, last_updated: time, published_on: time };
    const cast = hasText && random() < 0.2 ? makeVotes(review) : [];
    return [...publication(review), ...cast.flatMap((vote) => importedVote(review, vote))];
  }

  function makeVotes({ id, user_id, created }: Review): Vote[] {
    const voters = new Set(
      Array.from({ length: 1 + Math.floor(8 * random() ** 4) }, () => pick(authors).id),
    );
    voters.delete(user_id);
    votes += voters.size;
    return [...voters].map((voter, i) => ({
      review_id: id,
      user_id: voter,
      vote: random() < 0.75,
      voted_at: new Date(Date.parse(created) + (i + 1) * 60_000).toISOString(),
      revision: 1,
    }));
  }

  function sentence(length: number): string {
    return `${Array.from({ length }, () => pick(words)).join(' ')}.`;
  }

  await withoutStream(async () => {
    const show = showProgress('Writing', options.reviews);
    for (let made = 0; made < options.reviews; ) {
      const size = Math.min(250, options.reviews - made);
      const writes = Array.from({ length: size }, makeReview).flat();
      const isOfOwner = (write: Write) => owners.has(keyString(keyOf(write)));
      mergeInto(owners, writes.filter(isOfOwner));
      await writeAll(merged(writes.filter((write) => !isOfOwner(write))));
      made += size;
      show(made);
    }
    await writeAll([...owners.values()]);
  });
  const totals = await rebuild();
  return { reviews: options.reviews, users: options.users, entities, votes, totals };
}

function authorWrite({ id }: Author, i: number): Write {
  const created = new Date(from - (i + 1) * 60_000).toISOString();
  return { Put: { Item: userItem({ id, display_name: `Reader ${i + 1}`, created, karma: 0 }) } };
}

/**
 * Puts items, whether or not they are there. Transactions, because the embedded engine waits for
 * the disk once for each, and for every item of a batch. More at once would only wait.
 */
async function writeAll(writes: readonly Write[]): Promise<void> {
  const puts = writes.flatMap((write): Write[] =>
    'Put' in write ? [{ Put: { Item: write.Put.Item } }] : [write],
  );
  for (const together of chunks(puts, 4 * maxActions)) {
    await Promise.all(chunks(together, maxActions).map(transact));
  }
}

/** Whether the table is on this machine. */
export function isLocal(): boolean {
  return process.env.AWS_ENDPOINT_URL_DYNAMODB !== undefined;
}

/**
 * Computes totals and rank trees anew, as fast as the engine lets us. Waits for another rebuild, or
 * the lock that a killed one has left.
 */
export async function rebuild(onProgress?: (items: number) => void) {
  for (let waited = 0; waited < patience && (await isRebuilding()); waited++) {
    if (waited === 0) {
      console.error(
        `Another rebuild is at work, or was interrupted: waiting up to ${patience} s for its lock`,
      );
    }
    await sleep(1_000);
  }
  return rebuildTotals(onProgress, { inTransactions: isLocal() });
}

/** The embedded engine slows down with every record in its stream; the totals are rebuilt anyway. */
export async function withoutStream(work: () => Promise<void>): Promise<void> {
  const setStream = (StreamSpecification: StreamSpecification) =>
    table.send(new UpdateTableCommand({ TableName: tableName(), StreamSpecification }));
  if (isLocal()) await setStream({ StreamEnabled: false });
  try {
    await work();
  } finally {
    if (isLocal()) await setStream({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
  }
}

/** A version 4 UUID of four 32-bit numbers. */
function toUuid(numbers: readonly number[]): string {
  const hex = numbers.map((n) => n.toString(16).padStart(8, '0')).join('');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-a$4-$5');
}
