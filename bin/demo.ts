import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Stack } from '../infra/local/stack.ts';
import { findOrCreateUser } from '../shared/account/identity-repository.ts';
import { authUrl } from '../shared/auth-url.ts';
import type { EntityType } from '../shared/entity/entity-type.ts';
import { keepRecords } from '../shared/entity/write-records.ts';
import { insertReport } from '../shared/moderation/report-repository.ts';
import { nothingWritten, type Written } from '../shared/review/written.ts';
import { batchWrite, getItems } from '../shared/table/batch.ts';
import { entityKey, lastRunKey, metadataKey } from '../shared/table/keys.ts';
import { getItem } from '../shared/table/query.ts';
import { isEmptyTable } from '../shared/transfer/bulk.ts';
import { importRecords } from '../shared/transfer/import.ts';
import type { FullReviewRecord, SourcedRecord, VoteRecord } from '../shared/transfer/record.ts';
import { setModerator, updateProfile } from '../shared/user/name-repository.ts';
import { startDemoSearch } from './demo-search.ts';

// Fills an empty table with the data of demo.jsonl, for `npm start -- --demo`.

type Person = { person: string; language: FullReviewRecord['language'] };
/** An entity: a release group with its MusicBrainz id, or a book with a page about it. */
type Entity = { entity: string; by: string; year: string; type: EntityType } & (
  | { id: string }
  | { page: string }
);
type State = Partial<Written>;
type Votes = { up?: number; down?: number };
/** A review, its state before an edit, its age, and the reason for which people report it. */
type Review = {
  of: string;
  by: string;
  before?: State;
  /** Age in hours. Any other review is spread over `period`. */
  hours?: number;
  reason?: string;
} & State &
  Votes;

const lines = readFileSync(new URL('demo.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line): Person | Entity | Review => JSON.parse(line));
const people = lines.filter((line) => 'person' in line);
const entities = lines
  .filter((line) => 'entity' in line)
  .map((line) => {
    const { entity: name, type: entity_type, by, year } = line;
    const described = { entity_type, name, about: `${by} · ${year}`, by, year };
    if ('page' in line) return { ...described, entity_id: uuidOf(name), url: line.page };
    const url = `https://musicbrainz.org/release-group/${line.id}`;
    return { ...described, entity_id: line.id, url };
  });
const reviews = lines.filter((line) => 'of' in line);

/** In milliseconds: the reviews are spread over `period`, up to some days ago. */
const period = 2 * 365 * 86_400_000;
const newest = 3 * 86_400_000;

/** Returns a number from 0 to 1 that looks random, always the same for a name. */
const partOf = (name: string) => Number.parseInt(hash('sha256', name).slice(0, 8), 16) / 2 ** 32;

/** Exists when the demo's data is complete. */
const completed = lastRunKey('demo');

/**
 * Looks at the table. Returns an argument of curl to try, a notice, and `fill`, which adds the
 * demo's data to an empty table, or what an interrupted fill has left out.
 */
export async function planDemo({ url, stream, takesNames: hasModerator }: Stack) {
  const [{ entity_id }] = entities as [(typeof entities)[0]];
  const example = `'${url}/entity/${entity_id}?include_metadata=true'`;
  if ((await isEmptyTable()) || (await isInterrupted())) {
    await startDemoSearch(entities);
    const queue = `${authUrl()}/account/moderation`;
    const moderation = hasModerator ? `; sign in as Moderator to moderate: ${queue}` : '';
    const fill = async () => {
      await fillTable(hasModerator);
      await stream.idle();
      return `The demo is complete: ${reviews.length} reviews.`;
    };
    return { example, notice: `${reviews.length} reviews, in some seconds${moderation}`, fill };
  }
  const isThere = (await getItem(entityKey(entity_id))) !== undefined;
  // The data of a demo of an older version lacks the names.
  if (isThere) {
    await keepRecords(entities);
    await startDemoSearch(entities);
  }
  return {
    example: isThere ? example : undefined,
    notice: 'nothing was added, because there is data already: use --memory or another --data-dir',
  };
}

/** Is true if the names, which are stored first, are there without the mark of the end. */
async function isInterrupted(): Promise<boolean> {
  const [{ entity_type, entity_id }] = entities as [(typeof entities)[0]];
  const [name, end] = await getItems([metadataKey(entity_type, entity_id), completed]);
  return name?.url !== undefined && end === undefined;
}

/** Adds what is missing. May be repeated after an interruption. */
async function fillTable(hasModerator: boolean): Promise<void> {
  await keepRecords(entities);
  await importReviews();
  if (hasModerator) await createModerator();
  await batchWrite([{ put: { ...completed, at: new Date().toISOString() } }]);
}

/** Imports the data, because only an import can set times in the past. Reports are made now. */
async function importReviews(): Promise<void> {
  await importRecords(recordsAt(Date.now()), {
    onRefused(where, reason) {
      throw new Error(`the demo data cannot be written (${where}: ${reason})`);
    },
  });
  for (const { of, by, reason } of reviews) {
    if (reason === undefined) continue;
    const review = { id: uuidOf(of + by), user_id: uuidOf(by) };
    for (const { person } of people.slice(0, 2)) {
      await insertReport(review, { user_id: uuidOf(person), reason });
    }
  }
}

async function* recordsAt(now: number): AsyncGenerator<SourcedRecord> {
  const ago = (milliseconds: number) => new Date(now - milliseconds).toISOString();
  for (const { person: where } of people) {
    const created = ago(period * (1 + partOf(where) / 4));
    yield {
      where,
      record: { kind: 'user', id: uuidOf(where), display_name: where, created, contact: null },
    };
  }
  for (const { of, by, before, up = 0, down = 0, hours, reason: _, ...state } of reviews) {
    const where = of + by;
    const entity = entities.find(({ name }) => name === of);
    const author = people.find(({ person }) => person === by);
    if (!entity || !author) throw new Error(`demo.jsonl has no ${of}, or no ${by}`);
    const age =
      hours === undefined ? newest + (period - newest) * partOf(where) : hours * 3_600_000;
    const states = [...(before ? [before] : []), state];
    const review: FullReviewRecord = {
      kind: 'review',
      id: uuidOf(where),
      entity_id: entity.entity_id,
      entity_type: entity.entity_type,
      user_id: uuidOf(by),
      language: author.language,
      license: 'CC BY-SA 4.0',
      created: ago(age),
      published_on: ago(age),
      is_hidden: false,
      source: null,
      source_url: null,
      revisions: states.map((written, i) => {
        return { id: i + 1, ...nothingWritten, ...written, timestamp: ago(age / (i + 1)) };
      }),
    };
    yield { where, record: review };
    const voters = people.filter(({ person }) => person !== by);
    for (let i = 0; i < up + down; i++) {
      const { person = '' } = voters[(where.length + i) % voters.length] ?? {};
      const vote: VoteRecord = {
        kind: 'vote',
        review_id: review.id,
        user_id: uuidOf(person),
        vote: i < up,
        voted_at: ago((age / states.length) * (1 - (i + 1) / (up + down + 1))),
        revision: states.length,
      };
      yield { where, record: vote };
    }
  }
}

/** Makes "Moderator" of the development sign-in a moderator, whose display name then stays. */
async function createModerator(): Promise<void> {
  const display_name = 'Moderator';
  const { id } = await findOrCreateUser({
    issuer: process.env.OIDC_ISSUER ?? '',
    subject: display_name,
    display_name,
    email: null,
    musicdb_username: null,
  });
  // Only a moderator may have this name.
  await setModerator(id, true);
  await updateProfile(id, { display_name });
}

/** Returns a version 8 UUID, always the same for a name. */
function uuidOf(name: string): string {
  const hex = hash('sha256', `demo ${name}`);
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-a$4-$5');
}
