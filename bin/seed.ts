import { type EntityType, entityTypes } from '../shared/entity/entity-type.ts';
import { licenses } from '../shared/review/licenses.ts';
import { importRecords } from '../shared/transfer/import.ts';
import type { FullReviewRecord, TransferRecord, VoteRecord } from '../shared/transfer/record.ts';
import { bulk } from './bulk.ts';
import { showProgress } from './progress.ts';
import { randomNumbers } from './random.ts';

/** Range of the times in the data. The range is fixed, so that every run makes the same data. */
const from = Date.UTC(2024, 0, 1);
const to = Date.UTC(2026, 0, 1);

const languages = ['en', 'en', 'en', 'en', 'de', 'de', 'fr', 'es', 'ja', 'pt'] as const;
const words =
  `record chorus guitar rhythm quiet voice story page author melody light winter sound edition crowd stage
  chapter river silence opening honest bright uneven patient careful early later second whole small strange`.split(
    /\s+/,
  );

interface Size {
  reviews: number;
  users: number;
  entities: number;
  seed: number;
}

/**
 * Imports synthetic users and reviews with votes. A few entities have most of the reviews, and a
 * few users write most of them. Throws if there are too few users and entities for the reviews.
 */
export async function seed(options: Omit<Size, 'entities'> & { entities?: number }) {
  const { reviews, users, entities = Math.ceil(reviews / 20) } = options;
  if (reviews > users * entities * 0.5) {
    throw new Error('each user reviews an entity only once: choose more users or entities');
  }
  const { written, ...done } = await bulk((isAlone) =>
    importRecords(sourced(recordsOf({ ...options, entities })), {
      isAlone,
      onRefused(where, reason) {
        throw new Error(`the data cannot be written (${where}: ${reason})`);
      },
      onProgress: showProgress('Writing'),
    }),
  );
  const totals = 'totals' in done ? done.totals : null;
  return { reviews, users, entities, votes: written.vote ?? 0, totals };
}

async function* sourced(records: Iterable<TransferRecord>) {
  for (const record of records) yield { where: record.kind, record };
}

/** Yields the users, then each review with its votes. */
function* recordsOf(size: Size): Generator<TransferRecord> {
  const random = randomNumbers(size.seed);
  const number = (below: number) => Math.floor(random() * below);
  const pick = <T>(from: readonly T[]): T => from[number(from.length)] as T;
  const skewed = <T>(from: readonly T[]): T => from[Math.floor(from.length * random() ** 3)] as T;
  const uuid = () => toUuid([number(2 ** 32), number(2 ** 32), number(2 ** 32), number(2 ** 32)]);

  const authors = Array.from({ length: size.users }, () => {
    return { id: uuid(), languages: [pick(languages), 'en' as const] };
  });
  const subjects = Array.from({ length: size.entities }, (): { id: string; type: EntityType } => {
    return { id: uuid(), type: pick(entityTypes) };
  });
  for (const [i, { id }] of authors.entries()) {
    const created = new Date(from - (i + 1) * 60_000).toISOString();
    yield { kind: 'user', id, display_name: `Reader ${i + 1}`, created, contact: null };
  }
  const claimed = new Set<string>();
  for (let made = 0; made < size.reviews; made++) {
    let [author, subject] = [skewed(authors), skewed(subjects)];
    while (claimed.has(author.id + subject.id)) [author, subject] = [pick(authors), pick(subjects)];
    claimed.add(author.id + subject.id);
    const time = from + Math.floor(random() * (to - from));
    const hasText = random() < 0.8;
    const review = makeReview(author, subject, time, hasText);
    yield review;
    if (hasText && random() < 0.2) yield* makeVotes(review, time);
  }

  function makeReview(
    author: (typeof authors)[number],
    subject: (typeof subjects)[number],
    time: number,
    hasText: boolean,
  ): FullReviewRecord {
    const timestamp = new Date(time).toISOString();
    const id = uuid();
    const text = hasText ? sentence(30 + number(120)) : null;
    const rating = !hasText || random() < 0.7 ? 1 + number(5) : null;
    return {
      kind: 'review',
      id,
      entity_id: subject.id,
      entity_type: subject.type,
      user_id: author.id,
      language: pick(author.languages),
      license: pick(licenses).id,
      created: timestamp,
      published_on: timestamp,
      is_hidden: false,
      source: null,
      source_url: null,
      revisions: [{ id: 1, text, rating, timestamp }],
    };
  }

  function* makeVotes({ id, user_id }: FullReviewRecord, time: number): Generator<VoteRecord> {
    const count = 1 + Math.floor(8 * random() ** 4);
    const voters = new Set(Array.from({ length: count }, () => pick(authors).id));
    voters.delete(user_id);
    for (const [i, voter] of [...voters].entries()) {
      yield {
        kind: 'vote',
        review_id: id,
        user_id: voter,
        vote: random() < 0.75,
        voted_at: new Date(time + (i + 1) * 60_000).toISOString(),
        revision: 1,
      };
    }
  }

  function sentence(length: number): string {
    return `${Array.from({ length }, () => pick(words)).join(' ')}.`;
  }
}

/** Returns a version 4 UUID made of four 32-bit numbers. */
function toUuid(numbers: readonly number[]): string {
  const hex = numbers.map((n) => n.toString(16).padStart(8, '0')).join('');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-a$4-$5');
}
