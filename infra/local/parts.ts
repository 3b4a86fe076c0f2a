import type { DynamoDBRecord } from 'aws-lambda';
import { tableDefinition } from '../../shared/table/definition.ts';

// The parts of the table that a command reads, and those that a write changes. A part is an item, a
// partition, or a partition of an index. The name of a part is text.

type Image = NonNullable<NonNullable<DynamoDBRecord['dynamodb']>['NewImage']>;

const { indexes } = tableDefinition;

/** Returns the text of a key, which is sent as it is or as an attribute. */
const textOf = (value: unknown) => (value as { S?: string } | undefined)?.S ?? value;

const itemPart = (pk: unknown, sk: unknown) => `item ${textOf(pk)} ${textOf(sk)}`;
const partitionPart = (index: string | undefined, value: unknown) =>
  `${index ?? 'table'} ${textOf(value)}`;

/** Inputs of the commands below, as either client takes them. */
interface Input {
  Key?: Record<string, unknown>;
  RequestItems?: Record<string, { Keys?: Record<string, unknown>[] }>;
  IndexName?: string;
  KeyConditionExpression?: string;
  ExpressionAttributeValues?: Record<string, unknown>;
}

/** Returns the parts that a command reads. Undefined if they are unknown, as those of a write. */
export function partsRead(commandName: string, input: object): string[] | undefined {
  const { Key, RequestItems, IndexName, ...query } = input as Input;
  switch (commandName) {
    case 'GetItemCommand':
      return Key && [itemPart(Key.pk, Key.sk)];
    case 'BatchGetItemCommand':
      return Object.values(RequestItems ?? {}).flatMap(({ Keys = [] }) =>
        Keys.map(({ pk, sk }) => itemPart(pk, sk)),
      );
    case 'QueryCommand': {
      // The partition key comes first, see shared/table/query.ts.
      const [, name = ''] = /^#?\w+ = (:\w+)/.exec(query.KeyConditionExpression ?? '') ?? [];
      const value = query.ExpressionAttributeValues?.[name];
      return value === undefined ? undefined : [partitionPart(IndexName, value)];
    }
    default:
      return undefined;
  }
}

/** Returns the parts that a stream record says have changed. */
export function partsChanged({ dynamodb }: DynamoDBRecord): string[] {
  const { Keys, NewImage, OldImage } = dynamodb ?? {};
  const pk = Keys?.pk?.S;
  const sk = Keys?.sk?.S;
  const parts = [itemPart(pk, sk), partitionPart(undefined, pk)];
  for (const index of indexes) {
    const before = entryOf(index, OldImage);
    const after = entryOf(index, NewImage);
    if (isSame(before, after)) continue;
    for (const entry of [before, after]) {
      if (entry) parts.push(partitionPart(index.name, entry[0]));
    }
  }
  return parts;
}

/** Returns what an index holds of an item, its partition first. Undefined if it is not there. */
function entryOf(index: (typeof indexes)[number], image: Image | undefined) {
  const { partitionKey, sortKey, projection } = index;
  const partition = image?.[partitionKey]?.S;
  const sort = image?.[sortKey];
  if (partition === undefined || sort === undefined) return undefined;
  const attributes = [sort, ...projection.map((name) => image?.[name])];
  return [partition, ...attributes.map((attribute) => attribute?.S ?? attribute?.N)];
}

function isSame(a: readonly unknown[] | undefined, b: readonly unknown[] | undefined) {
  if (a === undefined || b === undefined) return a === b;
  return a.every((value, i) => value === b[i]);
}
