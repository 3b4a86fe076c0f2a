import type { Readable } from 'node:stream';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

type Values = Record<string, unknown>;

/** The commands that deal with items. */
const ofItems =
  /^((Get|Put|Update|Delete|BatchGet|BatchWrite)Item|TransactWriteItems|Query|Scan)Command$/;

/** What an item stands under, a list of items, and lists of items by table. */
const single =
  /^(Item|Key|Attributes|ExpressionAttributeValues|ExclusiveStartKey|LastEvaluatedKey)$/;
const several = /^(Items|Keys)$/;
const byTable = 'Responses';

/** A request as it goes out: where, how, and with which headers. */
interface Sent {
  headers: Record<string, string>;
}

/** What comes back. */
interface Received {
  statusCode: number;
  body: Readable | Uint8Array;
}

/**
 * Makes a client speak DynamoDB's JSON directly.
 *
 * It turns native values into JSON and back in one walk. The SDK takes three each way: by the types of values, by the schema of requests and
 * answers, and to copy what it found; and what it sends as bytes costs a second system call. That is a third of the CPU of a list. So the
 * SDK is given an empty request and an empty answer, and the true ones go past it.
 *
 * The request is sent past it as well, to where its first one went, as the two dozen layers of the SDK take twice the CPU of the request.
 * What does not go well is handed to the SDK as its first attempt: errors, retries and throttling are its own.
 */
export function speakDirectly({ config, middlewareStack }: DynamoDBDocumentClient): void {
  let first: Sent | undefined;
  middlewareStack.add(
    (next, context) => async (args) => {
      if (!ofItems.test(`${context.commandName}`)) return next(args);
      context.request = JSON.stringify(withItems(args.input, toWireItem));
      if (first) {
        const received = await send(`${context.commandName}`, context.request, first);
        if (received.answer) {
          const output = { ...received.answer, $metadata: { httpStatusCode: 200 } };
          return { response: received.response, output };
        }
        context.received = received;
      }
      const result = await next({ ...args, input: {} as typeof args.input });
      Object.assign(result.output, context.answer);
      return result;
    },
    { name: 'speakDirectly', step: 'initialize', priority: 'low' },
  );
  middlewareStack.add(
    (next, context) => async (args) => {
      if (context.request) Object.assign(args.request as object, { body: context.request });
      return next(args);
    },
    { name: 'writeRequest', step: 'serialize', priority: 'low' },
  );
  middlewareStack.add(
    (next, context) => async (args) => {
      const { received } = context;
      context.received = undefined;
      if (received?.error) throw received.error;
      const result = received ?? (await next(args));
      if (context.request && result.response.statusCode === 200) {
        first ??= args.request as Sent;
        context.answer = await read(result.response);
        result.response.body = new Uint8Array();
      }
      return result;
    },
    { name: 'readAnswer', step: 'deserialize', priority: 'low' },
  );

  /** Gives the answer, or what else came back, or why nothing did. */
  async function send(command: string, body: string, { headers, ...place }: Sent) {
    try {
      const { host = '', 'content-type': type = '' } = headers;
      const request = {
        ...place,
        headers: {
          host,
          'content-type': type,
          'content-length': `${Buffer.byteLength(body)}`,
          'x-amz-target': `DynamoDB_20120810.${command.replace(/Command$/, '')}`,
        },
        body,
      };
      const signer = await config.signer({ name: 'sigv4' } as never);
      const signed = await signer.sign(request as never);
      const { response } = await config.requestHandler.handle(signed as never);
      return { response, answer: response.statusCode === 200 ? await read(response) : undefined };
    } catch (error) {
      return { error };
    }
  }
}

async function read({ body }: Received): Promise<Values> {
  return withItems(JSON.parse(await textOf(body as Readable)), toNativeItem) as Values;
}

/** A request or an answer in which every item has been turned, and what is undefined left out. */
function withItems(part: unknown, turn: (item: Values) => Values): unknown {
  if (Array.isArray(part)) return part.map((each) => withItems(each, turn));
  if (typeof part !== 'object' || part === null) return part;
  const whole: Values = {};
  for (const [name, value] of Object.entries(part)) {
    if (value === undefined) continue;
    if (single.test(name)) whole[name] = turn(value);
    else if (several.test(name)) whole[name] = value.map(turn);
    else if (name === byTable) {
      const tables = Object.entries<Values[]>(value);
      whole[name] = Object.fromEntries(tables.map(([table, items]) => [table, items.map(turn)]));
    } else whole[name] = withItems(value, turn);
  }
  return whole;
}

function toWireItem(item: Values): Values {
  const turned: Values = {};
  for (const name in item) {
    if (item[name] !== undefined) turned[name] = toWire(item[name]);
  }
  return turned;
}

function toWire(value: unknown): unknown {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'bigint' || Number.isFinite(value)) return { N: `${value}` };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value === null) return { NULL: true };
  if (Array.isArray(value)) return { L: value.map(toWire) };
  if (typeof value === 'object') return { M: toWireItem(value as Values) };
  throw new Error(`the table takes no ${String(value)}`);
}

/** In its place: it is nobody else's yet, and to make another takes a fifth of a page's parsing. */
function toNativeItem(item: Values): Values {
  for (const name in item) item[name] = toNative(item[name] as AttributeValue);
  return item;
}

/** Numbers beyond 2^53 (ranks) come back as bigint. */
function toNative(value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) {
    const number = Number(value.N);
    return Number.isInteger(number) && !Number.isSafeInteger(number) ? BigInt(value.N) : number;
  }
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.NULL) return null;
  if (value.L) return value.L.map(toNative);
  if (value.M) return toNativeItem(value.M);
  throw new Error(`the table holds a value of an unknown type: ${Object.keys(value)}`);
}

function textOf(body: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    body.on('end', () => resolve(Buffer.concat(chunks).toString()));
    body.on('error', reject);
  });
}
