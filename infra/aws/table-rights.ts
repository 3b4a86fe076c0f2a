import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Route } from '../../shared/routes.ts';
import type { Bundle } from './bundle.ts';

const reading = ['GetItem', 'BatchGetItem', 'Query'];

/** What keeps the metadata of entities. */
const keeping = ['PutItem', 'UpdateItem'];

/** Partitions of the metadata of entities, as a pattern of IAM. */
const metadata = 'METADATA#*';

const uuid = [8, 4, 4, 4, 12].map((length) => '?'.repeat(length)).join('-');

/**
 * The partitions (shared/table/keys.ts) that `table: 'public'` and `'metadata'` open, as patterns of IAM. Grants lie beside profiles, but an item is read by its
 * whole key and that of a grant holds 128 random bits, so it is queries that must not reach them. The e-mail address lies apart.
 */
const publicPartitions = {
  read: ['REVIEW#*', 'USER#*', 'ENTITY#*', 'TOTALS', 'TREE#*', 'HEALTH', 'IMPORT'],
  queried: ['REVIEW#*', 'TOTALS', 'CHANGES', 'CHANGES#*'],
  /** Of indexes: all reviews and users, the facets, and what entities and authors have published. What is not for everybody has a prefix. */
  listed: ['REVIEW', 'USER', '*|*', uuid],
};

/** The rights to do what its code does. Throws where the route table allows less, for the first request would fail, or more, for it would be wrong about that. */
export function tableRights(
  tableArn: string,
  operation: string,
  { allowed, actions, indexes }: { allowed: Route['table'] } & Pick<Bundle, 'actions' | 'indexes'>,
): PolicyStatement[] {
  const done = [...actions, ...(indexes.length > 0 ? ['Query'] : [])];
  const excess = done.filter((action) => !isAllowed(allowed, action));
  if (excess.length > 0) {
    throw new Error(`${operation} has table: '${allowed}', but its code does ${excess}`);
  }
  if (!isNeeded(allowed, done)) {
    throw new Error(
      `${operation} has table: '${allowed}', but its code does ${done.join() || 'nothing there'}`,
    );
  }
  const isPublic = allowed === 'public' || allowed === 'metadata';
  const { read, queried, listed }: Partial<typeof publicPartitions> = isPublic
    ? publicPartitions
    : {};
  const isKept = (action: string) => allowed === 'metadata' && keeping.includes(action);
  const named = (some: readonly string[]) => some.map((action) => `dynamodb:${action}`);
  const isQuery = (action: string) => action === 'Query';
  const arns = indexes.map((name) => `${tableArn}/index/${name}`);
  return [
    allow(
      named(actions.filter((action) => !isQuery(action) && !isKept(action))),
      [tableArn],
      allowed === 'metadata' ? [...publicPartitions.read, metadata] : read,
    ),
    allow(named(actions.filter(isKept)), [tableArn], [metadata]),
    allow(named(actions.filter(isQuery)), [tableArn], queried),
    allow(named(['Query']), arns, listed),
  ].flat();
}

function isNeeded(allowed: Route['table'], done: readonly string[]): boolean {
  if (allowed === 'write') return done.some((action) => !reading.includes(action));
  if (allowed === 'metadata') return done.some((action) => keeping.includes(action));
  return allowed === 'none' || done.length > 0;
}

function isAllowed(allowed: Route['table'], action: string): boolean {
  if (allowed === 'metadata' && keeping.includes(action)) return true;
  return allowed === 'write' || (allowed !== 'none' && reading.includes(action));
}

/** The right to do this, of a table with the partitions that match one of the patterns only; none where there is nothing to do. */
export function allow(
  actions: readonly string[],
  resources: string[],
  partitions?: readonly string[],
): PolicyStatement[] {
  if (actions.length === 0 || resources.length === 0) return [];
  return [
    new PolicyStatement({
      actions: [...actions],
      resources,
      conditions: partitions && {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions },
      },
    }),
  ];
}
