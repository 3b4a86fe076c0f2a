import * as v from 'valibot';

/** The two databases that entities come from, with their entity types. */
export const entityGroups = {
  musicdb: ['event', 'place', 'release_group', 'work', 'artist', 'label', 'recording'],
  bookdb: ['bk_edition_group', 'bk_literary_work', 'bk_author', 'bk_series'],
} as const;

/** Name of a database, as a filter of lists. */
export type EntityGroup = keyof typeof entityGroups;

export type EntityType = (typeof entityGroups)[EntityGroup][number];

export const entityTypes: readonly EntityType[] = Object.values(entityGroups).flat();

/** Names of types and databases in CritiqueBrainz, by the name here. */
const olderNames: Readonly<Record<string, string>> = {
  musicdb: 'musicbrainz',
  bookdb: 'bookbrainz',
  bk_edition_group: 'bb_edition_group',
  bk_literary_work: 'bb_literary_work',
  bk_author: 'bb_author',
  bk_series: 'bb_series',
};

/** A type or database in a request: one of these. Names of CritiqueBrainz are understood. */
export function EntityTypeIn<T extends string>(types: readonly T[]) {
  const byOlder = new Map(types.map((type) => [olderNames[type] ?? type, type]));
  return v.pipe(
    v.picklist([...new Set([...types, ...byOlder.keys()])], `must be one of ${types.join(', ')}`),
    // For the API's description, which has one name for each type.
    v.metadata({ enum: types }),
    v.transform((name) => byOlder.get(name) ?? (name as T)),
  );
}

/** Entity types that a filter selects: those of the database, or the type itself. */
export function typesOf(filter: EntityGroup | EntityType): readonly EntityType[] {
  return filter in entityGroups ? entityGroups[filter as EntityGroup] : [filter as EntityType];
}

/** Types as people call them: one, and many. */
const words: Readonly<Record<EntityType, readonly [one: string, many: string]>> = {
  event: ['Event', 'Events'],
  place: ['Place', 'Places'],
  release_group: ['Album or single', 'Albums and singles'],
  work: ['Composition', 'Compositions'],
  artist: ['Artist', 'Artists'],
  label: ['Label', 'Labels'],
  recording: ['Recording', 'Recordings'],
  bk_edition_group: ['Edition of a book', 'Editions of books'],
  bk_literary_work: ['Book', 'Books'],
  bk_author: ['Author', 'Authors'],
  bk_series: ['Book series', 'Book series'],
};

/** Name of an entity type for people, such as Album or single. */
export function nameOfEntityType(type: EntityType): string {
  return words[type][0];
}

/** Name of several entities of a type, such as Albums and singles. */
export function pluralOfEntityType(type: EntityType): string {
  return words[type][1];
}

/** The subject of a database, in a word. */
export function nameOfGroup(group: EntityGroup): string {
  return { musicdb: 'Music', bookdb: 'Books' }[group];
}

/** The name of a reviewed entity, or its type while the name is unknown. */
export function nameOfEntity(
  { entity_type }: { entity_type: EntityType },
  metadata?: { name: string } | null,
): string {
  return metadata?.name ?? `${nameOfEntityType(entity_type)} without a name`;
}

/** The name of an entity and what tells it apart, as a title: Greatest Hits (Queen · 1981). */
export function titleOfEntity(
  entity: { entity_type: EntityType },
  metadata?: { name: string; about: string | null } | null,
): string {
  const name = nameOfEntity(entity, metadata);
  return metadata?.about ? `${name} (${metadata.about})` : name;
}

/** Returns the database that names entities of a type. */
export function groupOf(type: EntityType): EntityGroup {
  return type.startsWith('bk_') ? 'bookdb' : 'musicdb';
}
