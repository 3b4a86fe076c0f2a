import * as v from 'valibot';
import { Count, described, Id } from '../described.ts';
import { entityTypes } from './entity-type.ts';

/** A reviewable type, as the API shows it. */
export const PresentedEntityType = described(
  v.picklist(entityTypes),
  'The type of the entity',
  'release_group',
);

/** Name and page of an entity in its music or book database. */
export const Metadata = described(
  v.object({
    id: Id('The entity', '6b1d2f0e-3b52-4c43-9a2a-3d8a55a1c0de'),
    type: PresentedEntityType,
    name: described(v.string(), 'Its name', 'Blue Train'),
    url: described(
      v.string(),
      'Its page for people',
      'https://musicdb.example/release-group/6b1d2f0e-3b52-4c43-9a2a-3d8a55a1c0de',
    ),
  }),
  'Name and page of an entity in its music or book database',
);
export type Metadata = v.InferOutput<typeof Metadata>;

/** The average of all public ratings of an entity. */
export const AverageRating = described(
  v.object({
    rating: described(
      v.nullable(v.number()),
      'Their average with one decimal; `null` without ratings',
      4.5,
    ),
    count: Count('How many ratings there are', 2),
  }),
  'All public ratings of an entity',
);
export type AverageRating = v.InferOutput<typeof AverageRating>;
