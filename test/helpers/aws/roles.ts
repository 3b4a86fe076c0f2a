import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { listen } from '../listen.ts';
import { resourceIn, rolesOf, type Statement, type Template } from './checks.ts';

/** One action that a statement of a role allows on some resources. */
export interface Right {
  operation: string;
  action: string;
  /** `table`, `table/index/*`, or a secret. */
  resources: readonly string[];
  /**
   * Patterns for partition keys: each key of a request must match one. Undefined if all partitions
   * are open.
   */
  partitions?: readonly string[];
  /** The only attributes that it covers, if it has such a condition. */
  attributes?: readonly string[];
}

/** One action of a request. A transaction has several. */
export interface Deed {
  action: string;
  resource: string;
  /** Partition keys of the action, which IAM calls leading keys. */
  partitions: readonly string[];
  /** Attributes that an update names, with those of the key. */
  attributes?: readonly string[];
}

/**
 * Returns the rights to the table and the secrets that each function's role gives, by operation.
 */
export function rightsIn(template: Template): Map<string, Right[]> {
  const rightsOf = (operation: string, statements: Statement[]): Right[] =>
    statements.flatMap(({ Effect, Action, Resource, Condition }) => {
      if (Effect !== 'Allow') throw new Error(`${operation} has a statement that denies`);
      const actions = ([Action].flat() as string[]).filter((action) =>
        /^(dynamodb|secretsmanager):/.test(action),
      );
      const resources = [Resource].flat().map(resourceIn);
      // Lambda itself reads the stream.
      if (actions.length === 0 || resources.includes('stream')) return [];
      const limits = limitsIn(Condition);
      return actions.map((action) => ({ operation, action, resources, ...limits }));
    });
  return new Map([...rolesOf(template)].map(([name, all]) => [name, rightsOf(name, all)]));
}

/** The condition on attributes that an update gives back: none that it does not name. */
const givenBack = { 'dynamodb:ReturnValues': ['NONE', 'UPDATED_OLD', 'UPDATED_NEW'] };

/** Reads the conditions that the roles have. Another condition must be added here first. */
function limitsIn(condition: Statement['Condition']): Pick<Right, 'partitions' | 'attributes'> {
  if (condition === undefined) return {};
  const { 'ForAllValues:StringLike': likes, 'ForAllValues:StringEquals': equals } = condition;
  const { 'dynamodb:LeadingKeys': partitions, ...more } = likes ?? {};
  const attributes = equals?.['dynamodb:Attributes'] as readonly string[] | undefined;
  const known = {
    'ForAllValues:StringLike': likes,
    ...(attributes && {
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': attributes },
      StringEqualsIfExists: givenBack,
    }),
  };
  const isKnown = Array.isArray(partitions) && isDeepStrictEqual(condition, known);
  if (!isKnown || Object.keys(more).length > 0) {
    throw new Error(`Unknown condition: ${JSON.stringify(condition)}`);
  }
  return { partitions, ...(attributes && { attributes }) };
}

/** Finds the right that allows an action. As in IAM, one statement must cover all its keys. */
export function findRight(
  rights: readonly Right[],
  { action, resource, partitions, attributes }: Deed,
): Right | undefined {
  return rights.find(
    (right) =>
      right.action === action &&
      right.resources.includes(resource) &&
      (right.attributes === undefined ||
        attributes?.every((name) => right.attributes?.includes(name))) &&
      (right.partitions === undefined ||
        partitions.every((key) => right.partitions?.some((pattern) => isLike(key, pattern)))),
  );
}

/** Matches as IAM's StringLike does: a star is any text, a question mark any one character. */
export function isLike(text: string, pattern: string): boolean {
  const expression = pattern
    .replaceAll(/[\\^$+.()|[\]{}]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${expression}$`, 's').test(text);
}

interface Item {
  pk: { S: string };
}

/** A request for one item, or one member of a transaction. */
interface Part {
  Item?: Item;
  Key?: Item;
  UpdateExpression?: string;
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
}

interface Body extends Part {
  RequestItems?: Record<string, { Keys: Item[] } | Record<string, Part>[]>;
  TransactItems?: Record<string, Part>[];
  IndexName?: string;
  KeyConditionExpression?: string;
  ExpressionAttributeValues?: Record<string, { S: string }>;
}

/** Returns the actions of a request to DynamoDB, by its command and its body. */
function deedsOf(command: string, body: Body): Deed[] {
  const { RequestItems = {}, TransactItems, IndexName } = body;
  const resource = IndexName === undefined ? 'table' : 'table/index/*';
  const action = `dynamodb:${command}`;
  if (TransactItems) {
    return TransactItems.flatMap(Object.entries<Part>).map(([part, of]) => {
      const name = `dynamodb:${part.replace(/Item$/, '')}Item`;
      return { action: name, resource, partitions: [partitionOf(of)], attributes: namedIn(of) };
    });
  }
  const batch = Object.values(RequestItems).flatMap((items): Part[] =>
    'Keys' in items ? items.Keys.map((Key) => ({ Key })) : items.flatMap(Object.values<Part>),
  );
  if (command === 'Query') return [{ action, resource, partitions: [queried(body)] }];
  const parts = body.Item || body.Key ? [body] : batch;
  return [{ action, resource, partitions: parts.map(partitionOf), attributes: namedIn(body) }];
}

/** Returns the attributes that an update names, with those of the key. */
function namedIn({ UpdateExpression, ...part }: Part): string[] | undefined {
  if (UpdateExpression === undefined) return undefined;
  const { ConditionExpression = '', ExpressionAttributeNames: names = {} } = part;
  // Neither a placeholder nor a value.
  const words = `${UpdateExpression} ${ConditionExpression}`.match(/(?<![:#\w])[a-z]\w*/g) ?? [];
  const functions = ['attribute_exists', 'attribute_not_exists', 'if_not_exists'];
  const plain = words.filter((word) => !functions.includes(word));
  return [...new Set(['pk', 'sk', ...Object.values(names), ...plain])];
}

function partitionOf({ Item, Key }: Part): string {
  return (Item ?? Key)?.pk.S ?? '';
}

/** Returns the partition that a query reads, of the table or of an index. */
function queried({
  IndexName,
  KeyConditionExpression = '',
  ExpressionAttributeNames: names = {},
  ExpressionAttributeValues: values = {},
}: Body): string {
  const attribute = IndexName === undefined ? 'pk' : IndexName.split('-by-')[0];
  const equalities = KeyConditionExpression.matchAll(/([#\w]+) = (:\w+)/g);
  const [, , value = ''] =
    [...equalities].find(([, name = '']) => (names[name] ?? name) === attribute) ?? [];
  const partition = values[value]?.S;
  if (partition === undefined) throw new Error(`No partition in ${KeyConditionExpression}`);
  return partition;
}

/** Session token of the credentials that Lambda gives a function, which expire after hours. */
export const sessionToken = 'a session token/of Lambda+';

/**
 * Returns the reason for which AWS would refuse a signed request (Signature Version 4): its scope,
 * the session token, or unsigned headers. Does not verify the signature.
 */
function signingFault(headers: IncomingHttpHeaders): string | undefined {
  const { authorization = '', 'x-amz-security-token': token } = headers;
  if (token !== sessionToken) return `x-amz-security-token is ${token}`;
  const scope =
    /Credential=[^/]+\/\d{8}\/[a-z]+-[a-z]+-\d\/(dynamodb|secretsmanager)\/aws4_request, /;
  const isSigned =
    /SignedHeaders=[^,]*\bhost;[^,]*\bx-amz-date;x-amz-security-token;x-amz-target\b/;
  if (scope.test(authorization) && isSigned.test(authorization)) return undefined;
  return `no scope of a region and service, or unsigned headers in ${authorization}`;
}

/**
 * Starts a proxy before DynamoDB and Secrets Manager that enforces each function's role. The access
 * key id names the operation. `local`, the test itself, may do anything.
 */
export async function startProxy({
  database,
  rights,
  secrets,
}: {
  /** The URL of DynamoDB. */
  database: string;
  rights: ReadonlyMap<string, readonly Right[]>;
  /** Secret values by ARN. */
  secrets: Readonly<Record<string, string>>;
}) {
  const used = new Map<Right, Set<string>>();
  const denied = new Set<string>();
  const unsigned = new Set<string>();

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = (await request.toArray()).join('');
    // The SDK follows this date. Node's own is the real one, even if a test has stopped the clock.
    response.setHeader('Date', new Date().toUTCString());
    const fault = signingFault(request.headers);
    if (fault !== undefined) unsigned.add(fault);
    const [service, command = ''] = `${request.headers['x-amz-target']}`.split('.');
    const [, caller = ''] = /Credential=([^/]+)/.exec(request.headers.authorization ?? '') ?? [];
    const body = JSON.parse(text);
    const isSecret = service === 'secretsmanager';
    const deeds: Deed[] = isSecret
      ? [{ action: `secretsmanager:${command}`, resource: body.SecretId, partitions: [] }]
      : deedsOf(command, body);
    const refused = deeds.filter((deed) => fault !== undefined || !take(caller, deed));
    if (refused.length > 0) {
      const kind = fault === undefined ? 'AccessDeniedException' : 'InvalidSignatureException';
      const name = isSecret ? kind : `com.amazon.coral.service#${kind}`;
      const message =
        fault ?? `User: ${caller} is not authorized to perform: ${refused[0]?.action}`;
      response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ __type: name, message, Message: message }));
      if (fault !== undefined) return;
      for (const { action, resource, partitions } of refused) {
        denied.add(`${caller}: ${action} of ${resource} [${partitions}]`);
      }
      return;
    }
    if (isSecret) {
      response.setHeader('Content-Type', 'application/x-amz-json-1.1');
      response.end(JSON.stringify({ ARN: body.SecretId, SecretString: secrets[body.SecretId] }));
      return;
    }
    const passed = ['content-type', 'x-amz-target', 'x-amz-date', 'authorization'];
    const headers = passed.map((name): [string, string] => [name, `${request.headers[name]}`]);
    const answer = await fetch(database, { method: 'POST', headers, body: text });
    const type = { 'Content-Type': `${answer.headers.get('content-type')}` };
    response.writeHead(answer.status, type).end(Buffer.from(await answer.arrayBuffer()));
  }

  function take(caller: string, deed: Deed): boolean {
    const own = rights.get(caller);
    if (!own) return caller === 'local';
    const right = findRight(own, deed);
    if (!right) return false;
    const partitions = used.get(right) ?? new Set();
    for (const partition of deed.partitions) partitions.add(partition);
    used.set(right, partitions);
    return true;
  }

  const server = createServer(serve);
  return {
    url: await listen(server),
    /** Rights used so far, with the partitions they were used for. */
    used,
    /** Refused requests: operation, action and resource. */
    denied,
    /** Faults in signatures of requests. */
    unsigned,
    stop: () => server.close(),
  };
}
