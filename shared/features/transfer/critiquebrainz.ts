// Turns the rows of a CritiqueBrainz dump into records to import.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import * as v from 'valibot';
import { languages } from '../../base/languages.ts';
import { licenses } from '../../base/licenses.ts';
import { isVisible, StoredId } from '../../base/values.ts';
import { type EntityType, entityTypes } from '../../core/entity/entity-type.ts';
import { hasNeeded, nothingWritten } from '../../core/review/written.ts';
import type { Note, Row } from './critiquebrainz-archive.ts';
import type { FullReviewRecord, SourcedRecord, UserRecord, VoteRecord } from './record.ts';

/**
 * Yields the records of a loaded dump: users, then reviews, each followed by the votes on it. Calls
 * `note` for everything left out, and `noteChange` for everything changed.
 */
export async function* dumpRecords(
  database: DatabaseSync,
  note: Note,
  noteChange: Note,
): AsyncGenerator<SourcedRecord> {
  for (const row of database.prepare('SELECT * FROM user_sanitised ORDER BY id').iterate()) {
    const record = userOf(row as Row<'user_sanitised'>, noteChange);
    if (typeof record === 'string') {
      note(record);
    } else {
      yield { where: `user ${record.id}`, record };
    }
  }
  database.exec('CREATE TEMP TABLE claim (user_id, entity_id, PRIMARY KEY (user_id, entity_id))');
  const claim = database.prepare('INSERT OR IGNORE INTO claim VALUES (?, ?)');
  const hasUser = database.prepare('SELECT 1 FROM user_sanitised WHERE id = ?');
  const revisionsOf = database.prepare(
    'SELECT * FROM revision WHERE review_id = ? ORDER BY timestamp, CAST(id AS INTEGER)',
  );
  const votesOf = database.prepare(
    `SELECT vote.* FROM vote JOIN revision ON revision.id = revision_id
     WHERE review_id = ? ORDER BY rated_at, CAST(revision_id AS INTEGER)`,
  );
  const accepted = (record: FullReviewRecord | string) => {
    if (typeof record === 'string') return record;
    const { user_id, entity_id } = record;
    if (!hasUser.get(user_id)) return 'review: of a user who is not in the dump';
    const isFirst = claim.run(user_id, entity_id).changes > 0;
    return isFirst ? record : 'review: another one of the same user and entity';
  };
  const reviews = database.prepare('SELECT * FROM review ORDER BY published_on, id').iterate();
  for (const row of reviews as Iterable<Row<'review'>>) {
    const revisions = revisionsOf.all(`${row.id}`) as Row<'revision'>[];
    const numbers = new Map<string, number>();
    const record = accepted(reviewOf(row, revisions, numbers, note, noteChange));
    if (typeof record === 'string') {
      note(record);
      for (const _ of votesOf.iterate(`${row.id}`)) note('vote: on a review that was left out');
      continue;
    }
    yield { where: `review ${record.id}`, record };
    for (const vote of votesOn(record, votesOf, hasUser, numbers, note)) {
      yield { where: `vote of ${vote.user_id} on ${record.id}`, record: vote };
    }
  }
  noteRows(
    'vote WHERE revision_id NOT IN (SELECT id FROM revision)',
    'vote: on an unknown revision',
  );
  noteRows(
    'revision WHERE review_id NOT IN (SELECT id FROM review)',
    'revision: of an unknown review',
  );

  function noteRows(query: string, reason: string) {
    for (const _ of database.prepare(`SELECT 1 FROM ${query}`).iterate()) note(reason);
  }
}

function userOf(row: Row<'user_sanitised'>, noteChange: Note): UserRecord | string {
  const created = timeOf(row.created);
  if (!v.is(StoredId, row.id) || created === undefined) return 'user: without a UUID or time';
  let display_name = row.display_name ?? '';
  if (!isVisible(display_name)) {
    noteChange('invisible name to Reader and the start of the id');
    display_name = `Reader ${row.id.slice(0, 4)}`;
  }
  const contact = { email: null, musicdb_username: row.musicbrainz_id };
  return { kind: 'user', id: row.id, display_name, created, contact };
}

/** Also fills `numbers` with the new revision number of each revision id. */
function reviewOf(
  row: Row<'review'>,
  rows: readonly Row<'revision'>[],
  numbers: Map<string, number>,
  note: Note,
  noteChange: Note,
): FullReviewRecord | string {
  const { id, entity_id, user_id, license_id } = row;
  if (!v.is(StoredId, id) || !v.is(StoredId, entity_id) || !v.is(StoredId, user_id)) {
    return 'review: without UUIDs';
  }
  const entity_type = row.entity_type?.replace(/^bb_/, 'bk_') as EntityType;
  if (!entityTypes.includes(entity_type)) return `review: of the unknown type ${row.entity_type}`;
  const license = licenses.find((each) => each.id === license_id)?.id;
  if (!license) return `review: under the unknown licence ${license_id}`;
  const language = languageOf(row.language ?? '');
  if (!language) return `review: in the unknown language ${row.language}`;
  if (language !== row.language) noteChange(`language ${row.language} to ${language}`);

  const revisions: FullReviewRecord['revisions'] = [];
  for (const { id: serial, timestamp, ...content } of rows) {
    const time = timeOf(timestamp);
    const written = {
      ...nothingWritten,
      text: content.text || null,
      rating: starsOf(content.rating, note, noteChange),
    };
    if (time === undefined || !hasNeeded(written)) {
      note('revision: without time, or without text and rating');
      continue;
    }
    revisions.push({ id: revisions.length + 1, ...written, timestamp: time });
    numbers.set(`${serial}`, revisions.length);
  }
  const [first] = revisions;
  if (!first) return 'review: without a revision';
  const isDraft = row.is_draft === 't';
  const time = timeOf(row.published_on);
  if (time === undefined && !isDraft) {
    noteChange('invalid published_on to the time of the first revision');
  }
  const published = time ?? first.timestamp;
  return {
    kind: 'review',
    id,
    entity_id,
    entity_type,
    user_id,
    language,
    license,
    created: first.timestamp < published ? first.timestamp : published,
    published_on: isDraft ? null : published,
    is_hidden: row.is_hidden === 't',
    source: row.source || null,
    source_url: row.source_url || null,
    revisions,
  };
}

/** Yields the newest vote of each person on a review. */
function votesOn(
  { id: review_id, user_id: authorId }: FullReviewRecord,
  votesOf: StatementSync,
  hasUser: StatementSync,
  numbers: ReadonlyMap<string, number>,
  note: Note,
): Iterable<VoteRecord> {
  const newest = new Map<string, VoteRecord>();
  for (const row of votesOf.iterate(review_id) as Iterable<Row<'vote'>>) {
    const record = voteOf(row);
    if (typeof record === 'string') {
      note(record);
    } else {
      if (newest.has(record.user_id)) note('vote: an older one of the same person on the review');
      newest.set(record.user_id, record);
    }
  }
  return newest.values();

  function voteOf({ user_id, revision_id, vote, rated_at }: Row<'vote'>): VoteRecord | string {
    if (!v.is(StoredId, user_id) || !hasUser.get(user_id)) {
      return 'vote: of a user who is not in the dump';
    }
    if (user_id === authorId) return 'vote: by the author of the review';
    const revision = numbers.get(`${revision_id}`);
    if (revision === undefined) return 'vote: on a revision that was left out';
    const voted_at = timeOf(rated_at);
    if (voted_at === undefined || (vote !== 't' && vote !== 'f')) {
      return 'vote: without a time, or neither up nor down';
    }
    return { kind: 'vote', review_id, user_id, vote: vote === 't', voted_at, revision };
  }
}

/** Converts a rating to stars: 20 points a star, rounded to the nearest, at least 1. */
function starsOf(rating: string | null, note: Note, noteChange: Note): number | null {
  if (rating === null) return null;
  const number = Number(rating);
  if (!(number >= 0 && number <= 100) || rating.trim() === '') {
    note('rating: not 0 to 100');
    return null;
  }
  const stars = Math.max(1, Math.round(number / 20));
  if (stars * 20 !== number) noteChange(`rating ${rating} to ${stars}`);
  return stars;
}

/** Converts a language code to ISO 639-1. */
function languageOf(code: string) {
  const languageNamed = (name: string | undefined) =>
    languages.find((language) => language === name);
  if (!/^[a-z]{2,3}$/i.test(code)) return undefined;
  return languageNamed(code.toLowerCase()) ?? languageNamed(Intl.getCanonicalLocales(code)[0]);
}

/** Converts a timestamp without a zone, which means UTC, to ISO 8601 in milliseconds. */
function timeOf(timestamp: string | null): string | undefined {
  const parts = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?$/.exec(timestamp ?? '');
  if (!parts) return undefined;
  const [, day, time, fraction = ''] = parts;
  const iso = `${day}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
  // JavaScript reads February 30 as a day in March.
  return new Date(iso).toJSON() === iso ? iso : undefined;
}
