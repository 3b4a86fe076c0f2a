import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Stack } from '../infra/local/stack.ts';
import { authUrl } from '../shared/base/auth-url.ts';
import { lastRunKey } from '../shared/base/background/last-run.ts';
import { batchWrite, getItems } from '../shared/base/table/batch.ts';
import { getItem } from '../shared/base/table/query.ts';
import { transact } from '../shared/base/table/transact.ts';
import { type EntityType, entityTypes } from '../shared/core/entity/entity-type.ts';
import { readRecord, recordWrites } from '../shared/core/entity/record.ts';
import { keepRecords } from '../shared/core/entity/write-records.ts';
import { entityKey, metadataKey } from '../shared/core/keys.ts';
import { insertReport } from '../shared/core/report/report-repository.ts';
import { nothingWritten, type Written } from '../shared/core/review/written.ts';
import { setModerator, updateProfile } from '../shared/core/user/name-repository.ts';
import { findOrCreateUser } from '../shared/features/account/public.ts';
import { leadThing, recordOf } from '../shared/features/names/public.ts';
import {
  type FullReviewRecord,
  importRecords,
  isEmptyTable,
  type SourcedRecord,
  type VoteRecord,
} from '../shared/features/transfer/public.ts';
import { startDemoSearch } from './demo-search.ts';

// Fills an empty table with the data of demo.jsonl, for `npm start -- --demo`. Where this place has
// the type `film`, those of demo-films.jsonl follow.

const isFilm = (type: EntityType) => type === ('film' as EntityType);

type Person = { person: string; language: FullReviewRecord['language'] };
/**
 * An entity: a release group with its MusicBrainz id, a book with a page about it, or a film. A
 * film may be the same as another, or wait with the name of its `namer`.
 */
type Entity = { entity: string; by: string; year: string; type: EntityType } & (
  | { id: string }
  | { page: string }
  | { same_as?: string; namer?: string }
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

const files = ['demo.jsonl', ...(entityTypes.some(isFilm) ? ['demo-films.jsonl'] : [])];
const lines = files
  .flatMap((file) =>
    readFileSync(new URL(file, import.meta.url), 'utf8')
      .trim()
      .split('\n'),
  )
  .map((line): Person | Entity | Review => JSON.parse(line));
const people = lines.filter((line) => 'person' in line);
const entities = lines
  .filter((line) => 'entity' in line)
  .map((line) => {
    const { entity: name, type: entity_type, by, year } = line;
    const described = { entity_type, name, about: `${by} · ${year}`, by, year };
    if ('page' in line) return { ...described, entity_id: uuidOf(name), url: line.page };
    if (!('id' in line)) return { ...described, entity_id: uuidOf(name) };
    const url = `https://musicbrainz.org/release-group/${line.id}`;
    return { ...described, entity_id: line.id, url };
  });
/** Names of films that are the same as another, and of those that wait, with their namers. */
const sameAs = new Map<string, string>();
const namers = new Map<string, string>();
for (const line of lines) {
  if ('same_as' in line && line.same_as) sameAs.set(line.entity, line.same_as);
  if ('namer' in line && line.namer) namers.set(line.entity, line.namer);
}
const named = entities.filter(({ name }) => !namers.has(name));
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
    await startDemoSearch(named);
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
    await keepRecords(named);
    await startDemoSearch(named);
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
  await keepRecords(named);
  await importReviews();
  await nameFilms();
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

/** Joins films that are the same, and lets the name of another wait for a moderator. */
async function nameFilms(): Promise<void> {
  const by = { moderator_id: null, reason: 'other', note: '' } as const;
  for (const film of entities) {
    const other = sameAs.get(film.name);
    const namer = namers.get(film.name);
    const record = await readRecord(film);
    if (other && record?.same_as === undefined) await leadThing(film, uuidOf(other), { by });
    if (!namer || record) continue;
    const written = { user_id: uuidOf(namer), written_at: new Date().toISOString() };
    const waiting = { origin: 'member', state: 'waiting', ...written } as const;
    await transact(recordWrites(undefined, recordOf(film, film, waiting)));
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
    email: undefined,
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
