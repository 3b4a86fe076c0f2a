import {
  BatchGetCommand,
  BatchWriteCommand,
  GetCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { runAs } from '../../shared/base/operation.ts';
import { table, tableName } from '../../shared/base/table/client.ts';
import { conditional, updateInput } from '../../shared/base/table/expressions.ts';
import { type Item, type Key, keyString } from '../../shared/base/table/item.ts';
import type { Position, Storage } from '../../shared/base/table/storage.ts';
import type { Condition, Write } from '../../shared/base/table/write.ts';

/** A command to the table, with the parts of its input and answer that tests look at. */
export interface Command {
  input: Pick<QueryCommandInput, 'IndexName' | 'ExpressionAttributeValues'> &
    Partial<TransactWriteCommandInput>;
}
export interface Answer {
  Items?: { pk: string; sk: string }[];
}

/** Runs what a test does meanwhile, which is no part of the operation that it disturbs. */
const ofTest = <T>(act: () => T): T => runAs({ name: 'a test' }, act);

/**
 * Calls `act` before each command. If it throws, the table never receives the command. A value that
 * it returns takes the place of the answer.
 */
export function beforeSend(act: (command: Command) => unknown) {
  const send = table.send.bind(table);
  const mocked = async (command: never) => (await ofTest(() => act(command))) ?? send(command);
  return jest.spyOn(table, 'send').mockImplementation(mocked as never);
}

/** Calls `act` once, before the first command that `isIt` finds. */
export function beforeFirst(
  isIt: (command: Command) => unknown,
  act: (command: Command) => unknown,
): void {
  const spy = beforeSend(async (command) => {
    if (!isIt(command)) return;
    spy.mockRestore();
    await act(command);
  });
}

/** Calls `act` once, before the first transaction. */
export function beforeTransaction(act: (command: Command) => unknown): void {
  beforeFirst(({ input }) => input.TransactItems, act);
}

/** Calls `act` after each command. A value that it returns takes the place of the answer. */
export function afterSend(act: (command: Command, answer: Answer) => unknown) {
  const send = table.send.bind(table);
  const mocked = async (command: never) => {
    const answer = await send(command);
    return (await ofTest(() => act(command, answer as Answer))) ?? answer;
  };
  return jest.spyOn(table, 'send').mockImplementation(mocked as never);
}

/** Conditions that failed, on the way to the caller of a transaction. */
class Refused extends Error {
  readonly failures: Write[];

  constructor(failures: Write[]) {
    super('ConditionalCheckFailed');
    this.failures = failures;
  }
}

interface Output {
  Item?: Item;
  Items?: Item[];
  LastEvaluatedKey?: Position;
  Responses?: Record<string, Item[]>;
  Attributes?: Item;
}

/**
 * A storage whose calls pass `table.send`, as the commands that DynamoDB would get. So tests watch
 * and disturb both in the same way.
 */
export function watched(storage: Storage): Storage {
  const runs = new WeakMap<object, () => Promise<Output>>();
  const sendCommand = table.send.bind(table) as (command: object) => Promise<Output>;
  table.send = ((command: object) => runs.get(command)?.() ?? sendCommand(command)) as never;

  function send(command: object, run: () => Promise<Output>): Promise<Output> {
    runs.set(command, run);
    return table.send(command as never) as Promise<Output>;
  }

  return {
    async get(keys, options) {
      const { consistent: ConsistentRead } = options;
      const [Key] = keys;
      if (keys.length === 1 && Key) {
        const command = new GetCommand({ TableName: tableName(), Key: { ...Key }, ConsistentRead });
        const run = async () => ({ Item: (await storage.get(keys, options))[0] }) as Output;
        return [(await send(command, run)).Item];
      }
      const Keys = keys.map(({ pk, sk }) => ({ pk, sk }));
      const command = new BatchGetCommand({
        RequestItems: { [tableName()]: { Keys, ConsistentRead } },
      });
      const run = async () => {
        const items = (await storage.get(keys, options)).filter((item) => item !== undefined);
        return { Responses: { [tableName()]: items } };
      };
      const { Responses } = await send(command, run);
      const items = Responses?.[tableName()] ?? [];
      const found = new Map(items.map((item) => [keyString(item), item]));
      return keys.map((key) => found.get(keyString(key)));
    },

    async query(query) {
      const { low, high } = query.range;
      const command = new QueryCommand({
        TableName: tableName(),
        IndexName: query.index,
        ExpressionAttributeValues: { ':partition': query.partition, ':low': low, ':high': high },
        ConsistentRead: query.consistent,
        ScanIndexForward: !query.descending,
        Limit: query.limit,
      });
      const { Items = [], LastEvaluatedKey } = await send(command, async () => {
        const { items, next } = await storage.query(query);
        return { Items: items, ...(next && { LastEvaluatedKey: next }) };
      });
      return { items: Items, next: LastEvaluatedKey };
    },

    async scan(after, limit) {
      const command = new ScanCommand({ TableName: tableName(), Limit: limit });
      const { Items = [], LastEvaluatedKey } = await send(command, async () => {
        const { items, next } = await storage.scan(after, limit);
        return { Items: items, ...(next && { LastEvaluatedKey: next }) };
      });
      return { items: Items, next: LastEvaluatedKey };
    },

    async transact(writes) {
      const command = new TransactWriteCommand({
        TransactItems: writes.map(({ otherwise: _, ...write }) => {
          if ('Update' in write) return { Update: updateInput(write.Update) };
          const [[verb, action]] = Object.entries(write) as [[string, Condition & { Key: Key }]];
          return { [verb]: conditional(action) };
        }) as never,
      });
      try {
        await send(command, async () => {
          const failures = await storage.transact(writes);
          if (failures.length > 0) throw new Refused(failures);
          return {};
        });
        return [];
      } catch (error) {
        if (error instanceof Refused) return error.failures;
        throw error;
      }
    },

    async update(update) {
      const command = new UpdateCommand({ TableName: tableName(), ...updateInput(update) });
      try {
        const { Attributes = {} } = await send(command, async () => {
          const before = await storage.update(update);
          if (!before) throw new Refused([]);
          return { Attributes: before as Item };
        });
        return Attributes;
      } catch (error) {
        if (error instanceof Refused) return undefined;
        throw error;
      }
    },

    async write(writes) {
      const requests = writes.map((write) =>
        'put' in write
          ? { PutRequest: { Item: write.put as Item } }
          : { DeleteRequest: { Key: { ...write.delete } } },
      );
      const command = new BatchWriteCommand({ RequestItems: { [tableName()]: requests } });
      await send(command, async () => {
        await storage.write(writes);
        return {};
      });
    },
  };
}
