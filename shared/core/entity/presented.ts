import * as v from 'valibot';
import { AnyText, Count, described, Fields, Id, TextOrNull } from '../../base/described.ts';
import { entityGroups, entityTypes } from './entity-type.ts';

export const PresentedEntityType = described(
  v.picklist(entityTypes),
  'The type of the entity',
  'release_group',
);

export const EntityFilter = described(
  v.picklist([...entityGroups.keys(), ...entityTypes]),
  'A type of entities, or all types of one database',
  'release_group',
);

export const Metadata = Fields('Name and page of an entity', {
  id: Id('The entity', '8e8a594f-2175-38c7-a871-abb68ec363e7'),
  type: PresentedEntityType,
  name: AnyText('Its name', 'Blue Train'),
  url: AnyText(
    'Its page for people',
    'https://musicdb.example/release-group/8e8a594f-2175-38c7-a871-abb68ec363e7',
  ),
  about: TextOrNull(
    'A line that tells it from others of its name, such as artist or author, year and place',
    'John Coltrane · 1957',
  ),
  image: TextOrNull('The address of a picture, if there is one', null),
});
export type Metadata = v.InferOutput<typeof Metadata>;

export const CreatedEntity = Fields('It can be reviewed', {
  message: AnyText('A confirmation', 'Request processed successfully'),
  id: Id('The entity', '8e8a594f-2175-38c7-a871-abb68ec363e7'),
});

export const EntityState = described(
  v.nullable(v.picklist(['public', 'removed'])),
  '`removed` if a moderator has taken its name down; `null` if it has none',
  'public',
);

export const LeadsTo = described(
  v.nullable(v.pipe(v.string(), v.uuid())),
  'The id of the entity that it is the same as, of the same type; its own reviews stay here',
  null,
);

export const LedFrom = described(
  v.array(v.pipe(v.string(), v.uuid())),
  'The entities that lead to it',
  [],
);

/** The state of an entity, as answers have it. */
export interface PresentedState {
  state: v.InferOutput<typeof EntityState>;
  leads_to: string | null;
}

export const AverageRating = Fields('All public ratings of an entity', {
  rating: described(
    v.nullable(v.number()),
    'Their average with one decimal; `null` without ratings',
    4.5,
  ),
  count: Count('The number of ratings', 2),
});
export type AverageRating = v.InferOutput<typeof AverageRating>;
