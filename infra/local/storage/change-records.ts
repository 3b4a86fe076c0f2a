import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import type { ItemChange } from '../../../shared/base/table/sqlite/change-log.ts';

// Changes of the table as records of a stream, which the consumers receive on AWS.

type Image = Record<string, AttributeValue>;

/** Returns a change as a record. Its images are made when a consumer reads them. */
export function recordOf({ number, time, key, before, after }: ItemChange): DynamoDBRecord {
  const isInsertion = before() === undefined;
  const isRemoval = after() === undefined;
  const images: { old?: Image; new?: Image } = {};
  return {
    eventID: `${number}`,
    eventName: isRemoval ? 'REMOVE' : isInsertion ? 'INSERT' : 'MODIFY',
    eventSource: 'aws:dynamodb',
    dynamodb: {
      ApproximateCreationDateTime: Math.floor(time / 1000),
      Keys: imageOf(key),
      SequenceNumber: `${number}`,
      get OldImage() {
        images.old ??= before() && imageOf(before() as object);
        return images.old;
      },
      get NewImage() {
        images.new ??= after() && imageOf(after() as object);
        return images.new;
      },
    },
  };
}

/** Returns an item as DynamoDB sends it, such as `{ rating: { N: '3' } }`. */
function imageOf(item: object): Image {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, attributeOf(value)]),
  );
}

function attributeOf(value: unknown): AttributeValue {
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'boolean':
      return { BOOL: value };
    case 'object':
      if (value === null) return { NULL: true };
      return Array.isArray(value) ? { L: value.map(attributeOf) } : { M: imageOf(value) };
    default:
      return { N: `${value}` };
  }
}
