import * as v from 'valibot';
import { AnyText, Count, LongCount } from '../described.ts';

/** Response fields of every list with `limit` and `offset`. */
export const page = {
  count: Count('The number of all items', 1),
  limit: Count(
    'The most items on a page: as sent, or fewer where long reviews make the page end earlier',
    50,
  ),
  offset: LongCount('The number of items before this page', 0),
};

/** Response field of a list that can be read on with a cursor. */
export const next = v.optional(AnyText('The `cursor` of the next page. The last page has none'));
