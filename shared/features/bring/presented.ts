// Rows of files as the API describes them.
import * as v from 'valibot';
import { AnyText, Fields, Id, Whole } from '../../base/described.ts';

const BroughtRow = Fields('A row of a file that was brought', {
  line: Whole('Its line', 2),
  state: AnyText('Its state', 'published'),
  why: v.optional(AnyText('The reason', 'It has no title')),
  title: AnyText('The title', 'Metropolis'),
  by: v.optional(AnyText('The author', 'Jane Austen')),
  year: v.optional(AnyText('The year', '1927')),
  stars: v.optional(AnyText('The stars', '4.5')),
  text: v.optional(AnyText('The text', 'Still above all others.')),
  date: v.optional(AnyText('The day', '2024-05-01')),
  entity_id: v.optional(Id('The entity', '8e8a594f-2175-38c7-a871-abb68ec363e7')),
});
export type BroughtRow = v.InferOutput<typeof BroughtRow>;

/** Lists of a person's own data, as the API describes them. */
export const ownSchemas = { brought: v.array(BroughtRow) };
