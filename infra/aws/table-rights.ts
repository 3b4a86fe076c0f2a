import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { databaseTypes } from '../../shared/entity/databases.ts';
import type { Route, Within } from '../../shared/routes.ts';
import { deskPartitions } from '../../shared/table/keys.ts';
import { kinds, type Writer } from '../../shared/table/kinds.ts';
import type { Bundle } from './bundle.ts';

const reading = ['GetItem', 'BatchGetItem', 'Query'];

/**
 * Actions and partitions, as patterns of IAM, of functions that may write a part of the table.
 * `listed` are partitions of indexes that they may query too. In the partitions `told`, they may
 * use only the attributes named there.
 */
interface Part {
  actions: string[];
  partitions: string[];
  listed?: string[];
  told?: { partitions: string[]; attributes: string[] };
}

/** The queue of moderators. */
const waiting = Object.values(deskPartitions);

/** Returns the partitions, as patterns of IAM, of the kinds of items that these functions write. */
function writtenBy(writer: Writer): string[] {
  const written = Object.values(kinds).filter(({ writers }) => writers?.includes(writer));
  return [...new Set(written.map(({ key }) => key.form.pk.replace(/<.*/, '*')))];
}

const parts: Partial<Record<Route['table'], Part>> = {
  health: { actions: ['UpdateItem'], partitions: writtenBy('health'), listed: waiting },
  webhooks: {
    actions: ['UpdateItem'],
    partitions: writtenBy('webhooks'),
    // An owner is told of a webhook that was turned off.
    told: { partitions: ['USER#*'], attributes: ['pk', 'sk', 'deleted_at', 'news_webhook'] },
  },
  notices: { actions: ['UpdateItem', 'BatchWriteItem'], partitions: writtenBy('notices') },
};

/** The part of functions that ask databases, and keep the answers. */
const asking: Part = { actions: ['PutItem', 'UpdateItem'], partitions: writtenBy('asks') };

const uuid = [8, 4, 4, 4, 12].map((length) => '?'.repeat(length)).join('-');

/**
 * Partitions (shared/table/kinds.ts) that `table: 'public'` allows, as patterns of IAM. Grants are
 * in the partition of a profile. An item is read by its whole key, and the key of a grant has 128
 * random bits, so only queries must not reach grants. The e-mail address is in another partition.
 */
const publicPartitions = {
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
  // Of indexes: all reviews and users, types, facets, published reviews of an entity or author.
  // Private partitions have a prefix.
  listed: ['REVIEW', 'USER', 'DUE#*', ...databaseTypes, '*|*', uuid],
};

/** The limits of reading by the largest access, unless it reads everything. */
const limits: Partial<Record<Route['table'], typeof publicPartitions>> = {
  public: publicPartitions,
  webhooks: {
    read: ['REVIEW#*', 'USER#*', 'APP#*', 'CHANGES#*', 'METADATA#*'],
    queried: ['CHANGES', 'CHANGES#*', 'WEBHOOK'],
    listed: ['WEBHOOK'],
  },
  notices: {
    read: ['REVIEW#*', 'USER#*', 'METADATA#*'],
    queried: ['NOTICE'],
    listed: ['REVIEW', 'MODERATOR', 'DIGEST', ...waiting],
  },
};

/**
 * Returns the rights that the code uses. Throws if the route table allows less, because the first
 * request would fail, or more, because the table would be wrong.
 */
export function tableRights(
  tableArn: string,
  operation: string,
  {
    allowed,
    within,
    asks,
    ownTypes,
    hasSessions,
    actions,
    indexes,
  }: {
    allowed: Route['table'];
    within?: Within;
    asks?: Route['asks'];
    /** Types of this service, whose lists have partitions too. */
    ownTypes?: readonly string[];
    /** True for pages that tell moderators how much waits. */
    hasSessions?: boolean;
  } & Pick<Bundle, 'actions' | 'indexes'>,
): PolicyStatement[] {
  const used = [...actions, ...(indexes.length > 0 ? ['Query'] : [])];
  const part = asks ? asking : parts[allowed];
  const excess = used.filter((action) => !isAllowed(allowed, part, action));
  if (excess.length > 0 || !isNeeded(allowed, part, used)) {
    const uses = `${excess}` || `${used}` || 'none of the table';
    throw new Error(`${operation} has table: '${allowed}', but its code uses ${uses}`);
  }
  const limit = within ? limitsWithin(within) : limits[allowed];
  const { read, queried } = limit ?? {};
  const listed = limit?.listed && [
    ...new Set([...limit.listed, ...(ownTypes ?? []), ...(hasSessions ? waiting : [])]),
  ];
  const isOfPart = (action: string) => part?.actions.includes(action) === true;
  const named = (some: readonly string[]) => some.map((action) => `dynamodb:${action}`);
  const isQuery = (action: string) => action === 'Query';
  const arns = indexes.map((name) => `${tableArn}/index/${name}`);
  return [
    allow(
      named(actions.filter((action) => !isQuery(action) && !isOfPart(action))),
      [tableArn],
      read && part ? [...read, ...part.partitions] : read,
    ),
    allow(named(actions.filter(isOfPart)), [tableArn], part?.partitions),
    part?.told ? tell(named(actions.filter(isOfPart)), tableArn, part.told) : [],
    allow(named(actions.filter(isQuery)), [tableArn], queried),
    allow(named(['Query']), arns, listed ?? part?.listed),
  ].flat();
}

function limitsWithin(within: Within) {
  const partitions = writtenBy(within);
  return { read: partitions, queried: partitions, listed: undefined };
}

/** Allows the actions on these attributes of the partitions, and to get no others back. */
function tell(
  actions: readonly string[],
  tableArn: string,
  { partitions, attributes }: { partitions: string[]; attributes: string[] },
): PolicyStatement[] {
  if (actions.length === 0) return [];
  const conditions = {
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions },
    'ForAllValues:StringEquals': { 'dynamodb:Attributes': attributes },
    StringEqualsIfExists: { 'dynamodb:ReturnValues': ['NONE', 'UPDATED_OLD', 'UPDATED_NEW'] },
  };
  return [new PolicyStatement({ actions: [...actions], resources: [tableArn], conditions })];
}

function isNeeded(allowed: Route['table'], part: Part | undefined, used: readonly string[]) {
  if (allowed === 'write') return used.some((action) => !reading.includes(action));
  if (part) return used.some((action) => part.actions.includes(action));
  return allowed === 'none' || used.length > 0;
}

function isAllowed(allowed: Route['table'], part: Part | undefined, action: string) {
  if (allowed === 'write' || part?.actions.includes(action)) return true;
  if (allowed === 'health') return action === 'Query';
  // It changes nothing.
  if (part === asking && action === 'ConditionCheckItem') return true;
  return allowed !== 'none' && reading.includes(action);
}

/**
 * Returns a statement that allows the actions on the resources, or none if there are none. With
 * `partitions`, the right covers only partition keys that match a pattern.
 */
export function allow(
  actions: readonly string[],
  resources: string[],
  partitions?: readonly string[],
): PolicyStatement[] {
  if (actions.length === 0 || resources.length === 0) return [];
  const conditions = partitions && {
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions },
  };
  return [new PolicyStatement({ actions: [...actions], resources, conditions })];
}
