import type { Order } from './definition.ts';
import type { Key } from './item.ts';

// Keys of the stored items. kinds.ts lists these items.

const key = (pk: string, sk: string): Key => ({ pk, sk });

/** The ids of a form, such as `USER#<user_id>`. `<number:6>` is a number of six digits. */
type Ids<Form extends string> = Form extends `${string}<${infer Name}>${infer Rest}`
  ? [Name extends `${string}:${string}` ? number | '' : string, ...Ids<Rest>]
  : [];

/**
 * Makes the function that puts ids into a form, those of the partition key first. An empty id ends
 * a key, which is then the prefix of all keys that begin so.
 */
// @__NO_SIDE_EFFECTS__
function keyOf<P extends string, S extends string>(pk: P, sk: S) {
  const [fillPk, ids] = filler(pk);
  const [fillSk] = filler(sk, ids);
  const make = (...values: [...Ids<P>, ...Ids<S>]) => key(fillPk(values), fillSk(values));
  return Object.assign(make, { form: key(pk, sk) });
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

/** A file that a person brings. A person has few, each in a slot. */
export const fileKey = keyOf('USER#<user_id>', 'FILE#<slot:1>');

/** A part of the rows of such a file. */
export const rowsKey = keyOf('USER#<user_id>', 'ROWS#<file_id>#<number:4>');

export const grantKey = keyOf('USER#<user_id>', 'GRANT#<client_id>#<grant_id>');
export const applicationKey = keyOf('APP#<client_id>', 'APP');

/** Ends of the keys of an application's webhooks: it has at most two. */
export const webhookSlots = [1, 2] as const;

export const webhookKey = keyOf('WEBHOOK', 'HOOK#<client_id>#<slot:1>');

/** Returns the keys of all webhooks that an application may have. */
export const webhookKeys = (client: string) => webhookSlots.map((slot) => webhookKey(client, slot));

/** Not in the partition of webhooks, because readers of the state of the service may read it. */
export const webhookRunKey = key('WEBHOOK#RUN', 'RUN');

export const authorizationRequestKey = keyOf('REQUEST#<id>', 'REQUEST');
export const entityKey = keyOf('ENTITY#<entity_id>', 'ENTITY');

/** Takes a UTC day, yyyy-mm-dd. */
export const dailyVotesKey = keyOf('USER#<user_id>', 'VOTES#<day>');

/** Takes the hexadecimal hash of the authorization code. */
export const codeKey = keyOf('CODE#<sha256>', 'CODE');

/** Takes the hexadecimal hash of issuer and subject. */
export const identityKey = keyOf('IDENTITY#<sha256>', 'IDENTITY');

/** Takes 32 hexadecimal digits of the hash of the token of an invitation. */
export const invitationKey = keyOf('INVITATION', 'INVITATION#<invitation_id>');

/** Takes the hexadecimal hash of a verified address. */
export const addressKey = keyOf('ADDRESS#<sha256>', 'ADDRESS');

/** Takes the hexadecimal hash of a user and the key of a request. */
export const idempotencyKey = keyOf('IDEMPOTENCY#<sha256>', 'IDEMPOTENCY');

export const metadataKey = keyOf('METADATA#<entity_type>#<entity_id>', 'METADATA');
export const proposalKey = keyOf('METADATA#<entity_type>#<entity_id>', 'PROPOSAL#<user_id>');

/**
 * Returns the key of a thing in the index of names, under the words from one of its words on. The
 * space before `#` sorts before all that can follow a word, so the very name is the first.
 */
export const nameKey = (level: number, words: string, type: string, id: string) =>
  namesFrom(level, `${words} #${type}#${id}`);

/** Returns the prefix of all names of a level that have a word from which on they begin so. */
export const namesFrom = (level: number, words: string) =>
  key(`WORD#${[...words][0] ?? ''}`, `NAMED#${level}#${words}`);

/** Returns the key of a thing in a list of a type, or of all types, or the prefix of the list. */
export const thingKey = (sort: string, type: string | undefined, place = '') =>
  key(['THINGS', sort, ...(type === undefined ? [] : [type])].join('#'), `THING#${place}`);

export const paceKey = keyOf('METADATA#<database>', 'PACE');
export const searchPaceKey = keyOf('METADATA#<database>', 'PACE#SEARCH');
export const namesPaceKey = keyOf('METADATA#<database>', 'PACE#NAMES');

/** Takes the hexadecimal hash of a database's search, the type and the name. */
export const searchKey = keyOf('METADATA#SEARCH#<sha256>', 'SEARCH');

export const totalKey = keyOf('TOTALS', 'TOTAL#<entity_type>');

/** Returns true for the key of the totals of a type, which are not the only items beside them. */
export const isTotalKey = ({ pk, sk }: Key) =>
  pk === totalKey('').pk && sk.startsWith(totalKey('').sk);

/** Returns the type that a key of totals counts. */
export const typeOfTotal = ({ sk }: Pick<Key, 'sk'>) => sk.slice(totalKey('').sk.length);

/** Key of the copy of all totals without languages. Lists read one item instead of each total. */
export const sumsKey = key('TOTALS', 'SUMS');

/**
 * Returns the key of a node. `path` holds the child numbers from the root of the list's tree. Every
 * node has a partition key of its own, so DynamoDB spreads the writes of a tree from the start.
 */
export const rankTreeKey = (list: string, order: Order | 'root', path: readonly number[]) =>
  key(`TREE#${[list, ...path].join('#')}`, order);

/** Returns the prefix under which older code kept the nodes of the tree of all users. */
export const formerNodesKey = key('TREE#users', 'date#');

/**
 * Locks of a rebuild of totals and rank trees, which holds all 16, and the totals of each type.
 * Other transactions that change trees alone delete one at random, if it is absent or expired: one
 * missing lock makes the rebuild fail. Several locks avoid conflicts between these transactions.
 */
export const rebuildKeys: readonly Key[] = Array.from({ length: 16 }, (_, lane) =>
  key('TOTALS', `REBUILD#${lane}`),
);

/** Mark of a bulk import. While it exists, authors, entities and lists are not counted. */
export const bulkImportKey = key('IMPORT', 'IMPORT');

/** Takes a regular task, such as `backup`. */
export const lastRunKey = keyOf('HEALTH', 'DONE#<task>');

/** Takes the time at which a mail is due (epoch ms), and an id. */
export const noticeKey = keyOf('NOTICE', 'DUE#<time:13>#<id>');

/** Takes the time at which a mail is due (epoch ms), and an id. */
export const accountMailKey = keyOf('NOTICE', 'ACCOUNT#<time:13>#<id>');

/** The lease of the run that sends mails, and what moderators were told last. */
export const noticesPaceKey = key('NOTICE', 'PACE');

/** Takes the hexadecimal hash of an address, and a kind of mails. */
export const mailedKey = keyOf('MAILED#<sha256>', 'MAILED#<kind>');

export const deferredKey = keyOf('DEFERRED', 'COUNTS#<id>');

/**
 * Lanes of the change log. A review keeps its lane, so writers of different reviews seldom meet.
 */
export const changesLanes = 8;

/** Takes the time at which changes were logged (epoch ms). */
export const changesKey = keyOf('CHANGES#<lane:1>', 'AT#<time:13>');

/** The head of a lane, which points to its last item. */
export const laneKey = keyOf('CHANGES', 'LANE#<lane:1>');

/** Key of the epoch of the change log. It sorts before the lanes. */
export const epochKey = key('CHANGES', 'EPOCH');

export const projectionKey = ({ pk }: Pick<Key, 'pk'>) => key(pk, 'PROJECTION');

/** Returns the id in a partition key: all after the first #. */
export function idIn({ pk }: Pick<Key, 'pk'>): string {
  return pk.slice(pk.indexOf('#') + 1);
}

/** Difference that one vote makes in `popularityRank`. */
export const rankStep = 10n ** 29n;

/**
 * Returns the number that the popularity order sorts by: 38 digits of popularity, time of
 * publication (ms) and the first 52 bits of the id. It is a number so that a vote moves a review
 * with one ADD, without reading its popularity.
 */
export function popularityRank(popularity: number, published_on: string, id: string): bigint {
  const bits = BigInt(`0x${id.replaceAll('-', '').slice(0, 13)}`);
  return firstRank(popularity, Date.parse(published_on)) + bits;
}

/** Returns the lowest rank of a popularity and a time of publication (epoch ms). */
export function firstRank(popularity: number, time: number): bigint {
  return BigInt(popularity) * rankStep + BigInt(time) * 10n ** 16n;
}

/** Returns the popularity in a rank. */
export function popularityOf(rank: bigint): number {
  const votes = rank / rankStep;
  // Division of bigints rounds towards zero, and the time in a rank is positive.
  return Number(rank < 0n && votes * rankStep !== rank ? votes - 1n : votes);
}
