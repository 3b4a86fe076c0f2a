import type { Within } from '../routes.ts';
import type { IndexScope } from './definition.ts';
import type { Key } from './item.ts';

/** Functions that write a part of the table: by `table`, `within` or `asks` of their route. */
export type Writer = 'health' | 'webhooks' | 'notices' | Within | 'asks';

/**
 * A kind of stored items. In keys and index partitions, `<user_id>`, `<review_id>` and
 * `<client_id>` are the account, the review and the application that an item is of.
 */
export interface Kind extends Lists {
  key: { form: Key };
  /** The most that an item has, in DynamoDB's counting: 1 unless it is given. */
  kilobytes?: number;
  /** The reason why it is in no export. Any other kind has a schema in transfer/record.ts. */
  unexported?: string;
  /** The kind that it is exported beside, and erased with. */
  beside?: 'user' | 'review';
  /** True if it stays when the account is erased, without naming it. */
  isLasting?: true;
  /** The lists of a person's own data that have it. */
  own?: string | readonly string[];
  /** True if the audit recounts it, or counts something by it. */
  isCounted?: true;
  /** Functions that may write it, beside those that may write everything. */
  writers?: readonly Writer[];
}

/** Index partitions. An item is in an index when it has both attributes of the index. */
type Lists = { readonly [scope in IndexScope]?: string | readonly string[] };

/** A name in a form. */
export const placeholder = /<(\w+)(?::\d+)?>/g;
