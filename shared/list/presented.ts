import * as v from 'valibot';
import { Count, described } from '../described.ts';

/** Response fields of every list with `limit` and `offset`. */
export const page = {
  count: Count('How many there are in all', 1),
  limit: Count('How many there are on a page', 50),
  offset: Count('How many come before this page', 0),
};

/** Response field of a list that can be read on with a cursor. */
export const next = v.optional(
  described(v.string(), 'Sent as `cursor`, it gets the next page; the last page has none'),
);
