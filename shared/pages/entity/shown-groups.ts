import {
  type EntityGroup,
  type EntityType,
  entityGroups,
  nameOfEntityType,
} from '../../core/entity/entity-type.ts';
import { readGroups } from '../../core/entity/group-names.ts';
import { providerOf } from '../../core/entity/metadata-provider.ts';

// The groups of things that this place is about: pages speak of them, and offer their types.

/**
 * Returns the groups of this place with their types, own types first. Without a setting these are
 * the own types, and what has a database. If there is none, all are shown.
 */
export function shownGroups(): ReadonlyMap<EntityGroup, readonly EntityType[]> {
  const chosen = readGroups(process.env.SHOWN_GROUPS ?? '');
  const isOn = (group: EntityGroup) =>
    chosen.length > 0 ? chosen.includes(group) : group === 'own' || providerOf(group) !== undefined;
  const all = [...entityGroups].toSorted(([a], [b]) => Number(b === 'own') - Number(a === 'own'));
  const on = all.filter(([group]) => isOn(group));
  return new Map(on.length > 0 ? on : all);
}

/** Examples of each database, for sentences: many things, and one of them. */
const examples = {
  musicdb: { many: ['albums', 'events'], one: ['album', 'event'] },
  bookdb: { many: ['books'], one: ['book'] },
} as const;

/** Returns the subjects of this place, as in `reviews of albums, events, books and more`. */
export function manyThings(): string {
  const groups = [...shownGroups().keys()];
  const many = groups.flatMap((group) => (group === 'own' ? [] : examples[group].many));
  const all = [...ownNames(), ...many, ...(many.length > 0 ? ['more'] : [])];
  return inWords(all, 'and');
}

/** One of the things that this place is about, as in `search for an album, event or book`. */
export function oneThing(): string {
  const groups = [...shownGroups().keys()];
  const one = groups.flatMap((group) => (group === 'own' ? [] : examples[group].one));
  const own = ownNames();
  if (own.length > 0) return `something (${[...own, ...one].join(', ')})`;
  return `${one[0] === 'album' ? 'an' : 'a'} ${inWords(one, 'or')}`;
}

function ownNames(): string[] {
  return (shownGroups().get('own') ?? []).map(nameOfEntityType);
}

function inWords(names: readonly string[], conjunction: 'and' | 'or'): string {
  const last = names.at(-1) ?? '';
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} ${conjunction} ${last}` : last;
}
