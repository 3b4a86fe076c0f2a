/** The two databases that entities come from, with their entity types (spec). */
export const databases = {
  musicdb: ['event', 'place', 'release_group', 'work', 'artist', 'label', 'recording'],
  bookdb: ['bk_edition_group', 'bk_literary_work', 'bk_author', 'bk_series'],
} as const;

/** Name of a database. */
export type Database = keyof typeof databases;

/** A type that the specification names. */
export type DatabaseType = (typeof databases)[Database][number];

/** Types of the specification. */
export const databaseTypes: readonly DatabaseType[] = Object.values(databases).flat();

/** Names of types and databases in CritiqueBrainz, by the name here. */
export const olderNames: Readonly<Record<string, string>> = {
  musicdb: 'musicbrainz',
  bookdb: 'bookbrainz',
  bk_edition_group: 'bb_edition_group',
  bk_literary_work: 'bb_literary_work',
  bk_author: 'bb_author',
  bk_series: 'bb_series',
};
