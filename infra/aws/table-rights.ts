import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Route } from '../../shared/routes.ts';
import type { Bundle } from './bundle.ts';

const reading = ['GetItem', 'BatchGetItem', 'Query'];

/** The rights to do what its code does. Throws where the route table allows less: the first request would fail. */
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
  const isQuery = (action: string) => action === 'Query';
  const arns = indexes.map((name) => `${tableArn}/index/${name}`);
  return [
    allow(
      actions.filter((action) => !isQuery(action)),
      [tableArn],
    ),
    allow(actions.filter(isQuery), [tableArn]),
    allow(['Query'], arns),
  ].flat();
}

function isAllowed(allowed: Route['table'], action: string): boolean {
  return allowed === 'write' || (allowed !== 'none' && reading.includes(action));
}

/** The right to do this; none where there is nothing to do. */
function allow(actions: readonly string[], resources: string[]): PolicyStatement[] {
  if (actions.length === 0 || resources.length === 0) return [];
  return [
    new PolicyStatement({
      actions: actions.map((action) => `dynamodb:${action}`),
      resources,
    }),
  ];
}
