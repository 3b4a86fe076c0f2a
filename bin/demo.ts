import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Stack } from '../infra/local/stack.ts';
import { findOrCreateUser } from '../shared/account/identity-repository.ts';
import { authUrl } from '../shared/auth-url.ts';
import { type EntityType, groupOf } from '../shared/entity/entity-type.ts';
import { insertReport } from '../shared/moderation/report-repository.ts';
import { entityKey } from '../shared/table/keys.ts';
import { getItem } from '../shared/table/query.ts';
import { isEmptyTable } from '../shared/transfer/bulk.ts';
import { importRecords } from '../shared/transfer/import.ts';
import type { FullReviewRecord, SourcedRecord } from '../shared/transfer/record.ts';
import { setModerator, updateProfile } from '../shared/user/user-repository.ts';

type Person = { person: string; language: FullReviewRecord['language'] };
/** An entity. Only a release group has an `id` in the file: its real MusicBrainz id. */
type Entity = { entity: string; type: EntityType; id?: string };
type State = { rating?: number; text?: string };
type Votes = { up?: number; down?: number };
/** A review, its state before an edit, and the reason for which people report it. */
type Review = { of: string; by: string; before?: State; reason?: string } & State & Votes;

const lines = readFileSync(new URL('demo.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line): Person | Entity | Review => JSON.parse(line));
const people = lines.filter((line) => 'person' in line);
const entities = lines
  .filter((line) => 'entity' in line)
  .map(({ entity: name, type, id = uuidOf(name) }) => ({ id, name, type }));
const reviews = lines.filter((line) => 'of' in line);

/** In milliseconds: the period up to now over which the reviews are spread. */
const period = 2 * 365 * 86_400_000;

/** Returns a number from 0 to 1 that looks random, always the same for a name. */
const partOf = (name: string) => Number.parseInt(hash('sha256', name).slice(0, 8), 16) / 2 ** 32;

/** Fills an empty table with demo data. Returns an argument of curl to try, and a notice. */
export async function prepareDemo({ url, stream }: Stack, hasModerator: boolean) {
  nameEntities();
  const wasEmpty = await isEmptyTable();
  if (wasEmpty) {
    await fill();
    if (hasModerator) await createModerator();
    await stream.idle();
  }
  const [{ id } = { id: '' }] = entities;
  const isThere = (await getItem(entityKey(id))) !== undefined;
  const queue = `${authUrl()}/account/moderation`;
  const moderation = hasModerator ? `; sign in as Moderator to moderate: ${queue}` : '';
  return {
    example: isThere ? `'${url}/entity/${id}?include_metadata=true'` : undefined,
    notice: wasEmpty
      ? `${reviews.length} reviews${moderation}`
      : 'nothing was added, because there is data already: use --memory or another --data-dir',
  };
}

/** Configures absent name databases by data URLs that contain the answer, without any network. */
function nameEntities(): void {
  const pages = {
    MUSICDB: 'https://musicbrainz.org/{type}/{id}',
    BOOKDB: `${authUrl()}/entity/{id}`,
  };
  for (const [group, page] of Object.entries(pages)) {
    if (process.env[`${group}_API`]) continue;
    const known = entities.filter(({ type }) => groupOf(type).toUpperCase() === group);
    const answer = encodeURIComponent(JSON.stringify({ known }));
    process.env[`${group}_API`] = `data:application/json,${answer}#{ids}`;
    process.env[`${group}_PAGE`] = page;
  }
}

/** Imports the data, because only an import can set times in the past. Reports are made now. */
async function fill(): Promise<void> {
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
    const user = { id: uuidOf(where), display_name: where, created, contact: null };
    yield { where, record: { kind: 'user', ...user } };
  }
  for (const { of, by, before, up = 0, down = 0, reason, ...state } of reviews) {
    const where = of + by;
    const entity = entities.find(({ name }) => name === of);
    const author = people.find(({ person }) => person === by);
    if (!entity || !author) throw new Error(`demo.jsonl has no ${of}, or no ${by}`);
    // Reported reviews are an hour old, because moderators see reports early.
    const age = reason ? 3_600_000 : period * partOf(where);
    const states = [...(before ? [before] : []), state];
    const review: FullReviewRecord = {
      kind: 'review',
      id: uuidOf(where),
      entity_id: entity.id,
      entity_type: entity.type,
      user_id: uuidOf(by),
      language: author.language,
      license: 'CC BY-SA 4.0',
      created: ago(age),
      published_on: ago(age),
      is_hidden: false,
      source: null,
      source_url: null,
      revisions: states.map(({ text = null, rating = null }, i) => {
        return { id: i + 1, text, rating, timestamp: ago(age / (i + 1)) };
      }),
    };
    yield { where, record: review };
    const voters = people.filter(({ person }) => person !== by);
    for (let i = 0; i < up + down; i++) {
      const { person = '' } = voters[(where.length + i) % voters.length] ?? {};
      const cast = { review_id: review.id, user_id: uuidOf(person), vote: i < up };
      const voted_at = ago((age / states.length) * (1 - (i + 1) / (up + down + 1)));
      yield { where, record: { kind: 'vote', ...cast, voted_at, revision: states.length } };
    }
  }
}

/** Makes "Moderator" of the development sign-in a moderator, whose display name then stays. */
async function createModerator(): Promise<void> {
  const display_name = 'Moderator';
  const identity = { issuer: process.env.OIDC_ISSUER ?? '', subject: display_name };
  const profile = { display_name, email: null, musicdb_username: null };
  const { id } = await findOrCreateUser({ ...identity, ...profile });
  await updateProfile(id, { display_name });
  await setModerator(id, true);
}

/** Returns a version 8 UUID, always the same for a name. */
function uuidOf(name: string): string {
  const hex = hash('sha256', `demo ${name}`);
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-a$4-$5');
}
