import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { accessOf, type TableUse } from './table-access.ts';

/** Actions on items whose keys are known. No function may scan the table. */
const reading = ['GetItem', 'BatchGetItem', 'ConditionCheckItem'];
const writing = ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'];

/** Returns the rights to the table that a declaration gives. */
export function tableRights(
  tableArn: string,
  use: TableUse,
  ownTypes?: readonly string[],
): PolicyStatement[] {
  const { read, queried, listed, written } = accessOf(use, ownTypes);
  const named = (actions: readonly string[]) => actions.map((action) => `dynamodb:${action}`);
  return [
    ...allow(named(reading), [tableArn], read),
    ...allow(named(writing), [tableArn], written),
    ...allow(named(['Query']), [tableArn], queried),
    ...allow(named(['Query']), [`${tableArn}/index/*`], listed),
    ...(use.table === 'webhooks' ? [tellingOwners(tableArn)] : []),
  ];
}

/** Allows to tell the owner of a webhook that was turned off, and to get nothing else back. */
function tellingOwners(tableArn: string) {
  const attributes = ['pk', 'sk', 'deleted_at', 'news_webhook'];
  return new PolicyStatement({
    actions: ['dynamodb:UpdateItem'],
    resources: [tableArn],
    conditions: {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['USER#*'] },
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': attributes },
      StringEqualsIfExists: { 'dynamodb:ReturnValues': ['NONE', 'UPDATED_OLD', 'UPDATED_NEW'] },
    },
  });
}

/**
 * Returns a statement that allows the actions on the resources, or none if there are none. With
 * `partitions`, the right covers only partition keys that match a pattern.
 */
export function allow(
  actions: readonly string[],
  resources: string[],
  partitions: readonly string[] = ['*'],
): PolicyStatement[] {
  if (resources.length === 0 || partitions.length === 0) return [];
  const conditions = partitions.includes('*')
    ? undefined
    : { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions } };
  return [new PolicyStatement({ actions: [...actions], resources, conditions })];
}
