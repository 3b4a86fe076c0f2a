import * as v from 'valibot';
import { AnyText, Count, described, Fields, Id } from '../described.ts';
import { entityTypes } from './entity-type.ts';

export const PresentedEntityType = described(
  v.picklist(entityTypes),
  'The type of the entity',
  'release_group',
);

export const Metadata = Fields('Name and page of an entity in its music or book database', {
  id: Id('The entity', '8e8a594f-2175-38c7-a871-abb68ec363e7'),
  type: PresentedEntityType,
  name: AnyText('Its name', 'Blue Train'),
  url: AnyText(
    'Its page for people',
    'https://musicdb.example/release-group/8e8a594f-2175-38c7-a871-abb68ec363e7',
  ),
});
export type Metadata = v.InferOutput<typeof Metadata>;

export const AverageRating = Fields('All public ratings of an entity', {
  rating: described(
    v.nullable(v.number()),
    'Their average with one decimal; `null` without ratings',
    4.5,
  ),
  count: Count('The number of ratings', 2),
});
export type AverageRating = v.InferOutput<typeof AverageRating>;
