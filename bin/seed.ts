import { licenses } from '../shared/base/licenses.ts';
import { entityTypes } from '../shared/core/entity/entity-type.ts';
import { nothingWritten } from '../shared/core/review/written.ts';
import {
  type FullReviewRecord,
  importRecords,
  type TransferRecord,
  type VoteRecord,
} from '../shared/features/transfer/public.ts';
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

type Size = { reviews: number; users: number; entities?: number; seed: number };

/** Imports synthetic users, reviews and votes. Few users and entities have most of the reviews. */
export async function seed(options: Size) {
  const { reviews, users, entities = Math.ceil(reviews / 20) } = options;
  if (reviews > users * entities * 0.5) {
    throw new Error('each user reviews an entity only once: choose more users or entities');
  }
  const { written, ...rest } = await bulk((isAlone) =>
    importRecords(sourced(recordsOf({ ...options, entities })), {
      isAlone,
      onRefused(where, reason) {
        throw new Error(`the data cannot be written (${where}: ${reason})`);
      },
      onProgress: showProgress('Writing'),
    }),
  );
  const totals = 'totals' in rest ? rest.totals : null;
  return { reviews, users, entities, votes: written.vote ?? 0, totals };
}

async function* sourced(records: Iterable<TransferRecord>) {
  for (const record of records) yield { where: record.kind, record };
}

function* recordsOf(size: Required<Size>): Generator<TransferRecord> {
  const random = randomNumbers(size.seed);
  const number = (below: number) => Math.floor(random() * below);
  const pick = <T>(from: readonly T[]): T => from[number(from.length)] as T;
  const skewed = <T>(from: readonly T[]): T => from[Math.floor(from.length * random() ** 3)] as T;
  const sentence = (length: number) => `${Array.from({ length }, () => pick(words)).join(' ')}.`;

  const authors = Array.from({ length: size.users }, () => {
    return { id: uuid(), languages: [pick(languages), 'en' as const] };
  });
  const subjects = Array.from({ length: size.entities }, () => {
    return { entity_id: uuid(), entity_type: pick(entityTypes) };
  });
  for (const [i, { id }] of authors.entries()) {
    const created = new Date(from - (i + 1) * 60_000).toISOString();
    yield { kind: 'user', id, display_name: `Reader ${i + 1}`, created, contact: null };
  }
  const claimed = new Set<string>();
  for (let i = 0; i < size.reviews; i++) {
    let author = skewed(authors);
    let subject = skewed(subjects);
    while (claimed.has(author.id + subject.entity_id)) {
      author = pick(authors);
      subject = pick(subjects);
    }
    claimed.add(author.id + subject.entity_id);
    const time = from + Math.floor(random() * (to - from));
    const hasText = random() < 0.8;
    const timestamp = new Date(time).toISOString();
    const id = uuid();
    const text = hasText ? sentence(30 + number(120)) : null;
    const rating = !hasText || random() < 0.7 ? 1 + number(5) : null;
    const review: FullReviewRecord = {
      kind: 'review',
      id,
      ...subject,
      user_id: author.id,
      language: pick(author.languages),
      license: pick(licenses).id,
      created: timestamp,
      published_on: timestamp,
      is_hidden: false,
      source: null,
      source_url: null,
      revisions: [{ id: 1, ...nothingWritten, text, rating, timestamp }],
    };
    yield review;
    if (hasText && random() < 0.2) yield* makeVotes(review, time);
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
        revision: 1,
        voted_at: new Date(time + (i + 1) * 60_000).toISOString(),
      };
    }
  }
  /** Returns a version 4 UUID. */
  function uuid(): string {
    const parts = Array.from({ length: 4 }, () => number(2 ** 32).toString(16));
    const hex = parts.map((part) => part.padStart(8, '0')).join('');
    return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-a$4-$5');
  }
}
