import * as v from 'valibot';
import { oneOfNamed } from '../../base/values.ts';
import { type Database, type DatabaseType, databases, olderNames } from './databases.ts';
import { type OwnType, ownTypesIn } from './own-types.ts';

/** Name of a database, or `own` for the types of this service: a filter of lists. */
export type EntityGroup = Database | 'own';

/** A type of the specification, or of this service. */
export type EntityType = DatabaseType | OwnType;

/** Types that the operator has added, with their names. */
const ownTypes = ownTypesIn(process.env.OWN_TYPES ?? '');

/** Types by the group that they are in. Without own types there is no group of them. */
export const entityGroups: ReadonlyMap<EntityGroup, readonly EntityType[]> = new Map(
  Object.entries({ ...databases, own: [...ownTypes.keys()] })
    .filter(([, types]) => types.length > 0)
    .map(([group, types]) => [group as EntityGroup, types] as const),
);

/** All types of this service. */
export const entityTypes: readonly EntityType[] = [...entityGroups.values()].flat();

/** Returns true for a type of this service alone. */
export function isOwnType(type: EntityType): type is OwnType {
  return ownTypes.has(type as OwnType);
}

/** A type in stored data. The message names the setting that a missing type needs. */
export const StoredEntityType = v.picklist(
  entityTypes,
  ({ received }) =>
    `The type ${received} is not one of this service: OWN_TYPES must have it when the service starts`,
);

/**
 * A type or database in a request: one of these. Names of CritiqueBrainz are understood. `beside`
 * ends the message.
 */
export function EntityTypeIn<T extends string>(types: readonly T[], beside = '') {
  const byOlder = types.flatMap((type) => (olderNames[type] ? [[olderNames[type], type]] : []));
  return oneOfNamed(types, Object.fromEntries(byOlder), beside);
}

/** A type in what an operator types or imports. */
export const OperatorEntityType = EntityTypeIn(
  entityTypes,
  ', or a type of OWN_TYPES, with which the service must be started',
);

/** Returns true for the name of a group, not of a type. */
export function isGroup(filter: EntityGroup | EntityType): filter is EntityGroup {
  return entityGroups.has(filter as EntityGroup);
}

/** Entity types that a filter selects: those of the group, or the type itself. */
export function typesOf(filter: EntityGroup | EntityType): readonly EntityType[] {
  return entityGroups.get(filter as EntityGroup) ?? [filter as EntityType];
}

/** Types as people call them: one, and many. */
const words: Readonly<Record<DatabaseType, readonly [one: string, many: string]>> = {
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
  return isOwnType(type) ? (ownTypes.get(type) ?? type) : words[type][0];
}

/** Name of several entities of a type, such as Albums and singles. An own type has one name. */
export function pluralOfEntityType(type: EntityType): string {
  return isOwnType(type) ? nameOfEntityType(type) : words[type][1];
}

/** The subject of a group, in a word or two. */
export function nameOfGroup(group: EntityGroup): string {
  return { musicdb: 'Music', bookdb: 'Books', own: 'Things added here' }[group];
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

/** Returns the group that a type is in. */
export function groupOf(type: EntityType): EntityGroup {
  if (isOwnType(type)) return 'own';
  return type.startsWith('bk_') ? 'bookdb' : 'musicdb';
}
