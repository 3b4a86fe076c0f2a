import type { Route, Within } from '../../shared/base/routes.ts';
import type { Writer } from '../../shared/base/table/kind.ts';
import { databaseTypes } from '../../shared/core/entity/databases.ts';
import { deskPartitions } from '../../shared/core/keys.ts';
import { kinds } from '../../shared/features/kinds.ts';

/** The declaration of a route, a consumer or a job about the table. */
export type TableUse = Pick<Route, 'table' | 'within' | 'asks' | 'secrets'>;

/** Partitions, as patterns of IAM, by what a function may do with their items. */
interface Access {
  /** Read by the whole key. */
  read: readonly string[];
  /** Listed, of the table. */
  queried: readonly string[];
  /** Listed, of an index. */
  listed: readonly string[];
  written: readonly string[];
}

const all = ['*'];
const nothing: Access = { read: [], queried: [], listed: [], written: [] };

/** The queue of moderators. */
const waiting = Object.values(deskPartitions);

const uuid = [8, 4, 4, 4, 12].map((length) => '?'.repeat(length)).join('-');

const accesses: Readonly<Record<Route['table'], Access>> = {
  none: nothing,
  // An item is read by its whole key, and the key of a grant has 128 random bits. So only queries
  // must not reach grants, which are in the partition of a profile. The e-mail address is in
  // another partition. Private partitions of indexes have a prefix.
  public: {
    read: [
      'REVIEW#*',
      'USER#*',
      'ENTITY#*',
      'METADATA#*',
      'TOTALS',
      'TREE#*',
      'IMPORT',
      'WEBHOOK#RUN',
    ],
    queried: ['REVIEW#*', 'TOTALS', 'CHANGES', 'CHANGES#*', 'HEALTH', 'WORD#*', 'THINGS#*'],
    // All reviews and users, types, facets, published reviews of an entity or author.
    listed: ['REVIEW', 'USER', 'DUE#*', ...databaseTypes, '*|*', uuid],
    written: [],
  },
  read: { read: all, queried: all, listed: all, written: [] },
  write: { read: all, queried: all, listed: all, written: all },
  health: { ...nothing, listed: waiting, written: partitionsOf('health') },
  webhooks: {
    read: ['REVIEW#*', 'USER#*', 'APP#*', 'CHANGES#*', 'METADATA#*', ...partitionsOf('webhooks')],
    queried: ['CHANGES', 'CHANGES#*', 'WEBHOOK'],
    listed: ['WEBHOOK'],
    written: partitionsOf('webhooks'),
  },
  notices: {
    read: ['REVIEW#*', 'USER#*', 'METADATA#*', ...partitionsOf('notices')],
    queried: ['NOTICE'],
    listed: ['REVIEW', 'MODERATOR', 'DIGEST', ...waiting],
    written: partitionsOf('notices'),
  },
};

/**
 * Returns the partitions that a declaration opens. `ownTypes` are types of this service, whose
 * lists have partitions too.
 */
export function accessOf(
  { table, within, asks, secrets }: TableUse,
  ownTypes: readonly string[] = [],
): Access {
  const { read, queried, listed, written } = within ? accessWithin(within) : accesses[table];
  const isPublic = listed.includes('work');
  // Pages with a session tell moderators how much waits.
  const isGreeting = table !== 'none' && !listed.includes('*') && secrets?.includes('SESSION_KEYS');
  return {
    read,
    queried,
    listed: [
      ...new Set([...listed, ...(isPublic ? ownTypes : []), ...(isGreeting ? waiting : [])]),
    ],
    written: asks ? [...written, ...partitionsOf('asks')] : written,
  };
}

/**
 * Lists of functions that write a part of the table. Only those that end access query the partition
 * of a profile, because it has grants.
 */
const listsWithin: Partial<Record<Within, Partial<Pick<Access, 'queried' | 'listed'>>>> = {
  // A name is compared with those of other things.
  reviews: { queried: ['WORD#*'], listed: [uuid, 'UNLISTED#*'] },
  accounts: { queried: ['USER#*'], listed: ['APPROVER#*'] },
  grants: { queried: ['USER#*'], listed: ['CLIENT#*'] },
  hooks: { queried: ['WEBHOOK', 'CHANGES', 'CHANGES#*'] },
  counters: { listed: ['VOTES'] },
  lists: { queried: partitionsOf('lists'), listed: [uuid] },
};

/** Returns the access to what a function writes. */
function accessWithin(within: Within): Access {
  const own = partitionsOf(within);
  return { ...nothing, read: own, written: own, ...listsWithin[within] };
}

/** Returns the partitions, as patterns, of the kinds of items that a function writes. */
function partitionsOf(writer: Writer): string[] {
  const written = Object.values(kinds).filter(({ writers }) => writers?.includes(writer));
  return [...new Set(written.map(({ key }) => key.form.pk.replace(/<.*/, '*')))];
}
