import type { Key } from '../base/table/item.ts';

// Keys of what the core stores, or what others store for it. kinds.ts lists these items.

/** The ids of a form, such as `USER#<user_id>`. `<number:6>` is a number of six digits. */
type Ids<Form extends string> = Form extends `${string}<${infer Name}>${infer Rest}`
  ? [Name extends `${string}:${string}` ? number | '' : string, ...Ids<Rest>]
  : [];

/**
 * Makes the function that puts ids into a form, those of the partition key first. An empty id ends
 * a key, which is then the prefix of all keys that begin so.
 * @__NO_SIDE_EFFECTS__ Bundles then leave out the keys of this file that they do not use.
 */
export function keyOf<P extends string, S extends string>(pk: P, sk: S) {
  const [fillPk, ids] = filler(pk);
  const [fillSk] = filler(sk, ids);
  const make = (...values: [...Ids<P>, ...Ids<S>]): Key => ({
    pk: fillPk(values),
    sk: fillSk(values),
  });
  return Object.assign(make, { form: { pk, sk } });
}

/** Returns the function that fills a form with ids, from the first on, and the end of these. */
function filler(form: string, first = 0): [fill: (ids: readonly unknown[]) => string, end: number] {
  const [start = '', ...parts] = form.split(/<\w+:?(\d*)>/);
  const fill = (ids: readonly unknown[]) => {
    let text = start;
    for (let i = 0; i < parts.length; i += 2) {
      const id = ids[first + i / 2];
      if (id === '') break;
      text += `${id}`.padStart(Number(parts[i]), '0') + parts[i + 1];
    }
    return text;
  };
  return [fill, first + parts.length / 2];
}

/**
 * Index partitions (`all`) of what waits for a moderator, by kind. Together they are the queue of
 * the desk. Older code has put all open cases into the first.
 */
export const deskPartitions = {
  report: 'CASE',
  held: 'CASE#held',
  appeal: 'CASE#appeal',
  proposal: 'PROPOSAL',
  name: 'NAMING',
} as const;

export const reviewKey = keyOf('REVIEW#<review_id>', 'REVIEW');

/** Sorts before the review: a scan that meets a long review has its text, also beside an edit. */
export const longTextKey = keyOf('REVIEW#<review_id>', 'LONGTEXT');

export const revisionKey = keyOf('REVIEW#<review_id>', 'REVISION#<number:6>');

export const voteKey = keyOf('REVIEW#<review_id>', 'VOTE#<user_id>');

export const reportKey = keyOf('REVIEW#<review_id>', 'REPORT#<user_id>');

export const caseKey = keyOf('REVIEW#<review_id>', 'CASE');

export const waitingKey = keyOf('REVIEW#<review_id>', 'WAITING');

export const decisionKey = keyOf('DECISION#<id>', 'DECISION');

export const userKey = keyOf('USER#<user_id>', 'USER');

/** Separate from the user, because every list reads its authors, and none their counts. */
export const countsKey = keyOf('USER#<user_id>', 'COUNTS');

/** Takes the hexadecimal hash of a name as people read it, see user/moderator-name.ts. */
export const moderatorNameKey = keyOf('NAME#<sha256>', 'NAME');

/** Separate from the user, because public readers may read everything under USER#. */
export const contactKey = keyOf('CONTACT#<user_id>', 'CONTACT');

export const claimKey = keyOf('USER#<user_id>', 'CLAIM#<entity_id>');

export const grantKey = keyOf('USER#<user_id>', 'GRANT#<client_id>#<grant_id>');

export const applicationKey = keyOf('APP#<client_id>', 'APP');

/** Ends of the keys of an application's webhooks: it has at most two. */
export const webhookSlots = [1, 2] as const;

export const webhookKey = keyOf('WEBHOOK', 'HOOK#<client_id>#<slot:1>');

/** Returns the keys of all webhooks that an application may have. */
export const webhookKeys = (client: string) => webhookSlots.map((slot) => webhookKey(client, slot));

export const authorizationRequestKey = keyOf('REQUEST#<id>', 'REQUEST');

export const entityKey = keyOf('ENTITY#<entity_id>', 'ENTITY');

/** Takes a UTC day, yyyy-mm-dd. */
export const dailyVotesKey = keyOf('USER#<user_id>', 'VOTES#<day>');

/** Takes the hexadecimal hash of the authorization code. */
export const codeKey = keyOf('CODE#<sha256>', 'CODE');

/** Takes the hexadecimal hash of issuer and subject. */
export const identityKey = keyOf('IDENTITY#<sha256>', 'IDENTITY');

/** Takes the hexadecimal hash of a verified address. */
export const addressKey = keyOf('ADDRESS#<sha256>', 'ADDRESS');

/** Takes the hexadecimal hash of a user and the key of a request. */
export const idempotencyKey = keyOf('IDEMPOTENCY#<sha256>', 'IDEMPOTENCY');

export const metadataKey = keyOf('METADATA#<entity_type>#<entity_id>', 'METADATA');

/** Returns the prefix under which older code kept the nodes of the tree of all users. */
export const formerNodesKey = { pk: 'TREE#users', sk: 'date#' };

/**
 * Locks of a rebuild of totals and rank trees, which holds all 16, and the totals of each type.
 * Other transactions that change trees alone delete one at random, if it is absent or expired: one
 * missing lock makes the rebuild fail. Several locks avoid conflicts between these transactions.
 */
export const rebuildKeys: readonly Key[] = Array.from({ length: 16 }, (_, lane) => ({
  pk: 'TOTALS',
  sk: `REBUILD#${lane}`,
}));

/** Mark of a bulk import. While it exists, authors, entities and lists are not counted. */
export const bulkImportKey = { pk: 'IMPORT', sk: 'IMPORT' };

/** Takes the time at which a mail is due (epoch ms), and an id. */
export const noticeKey = keyOf('NOTICE', 'DUE#<time:13>#<id>');

/** Takes the time at which a mail is due (epoch ms), and an id. */
export const accountMailKey = keyOf('NOTICE', 'ACCOUNT#<time:13>#<id>');

export const deferredKey = keyOf('DEFERRED', 'COUNTS#<id>');

export const projectionKey = ({ pk }: Pick<Key, 'pk'>) => ({ pk, sk: 'PROJECTION' });
