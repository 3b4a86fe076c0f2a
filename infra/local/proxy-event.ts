import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type Match, resourceOf } from '../../shared/http/match-route.ts';
import { readPairs } from '../../shared/http/pairs.ts';
import { stage } from '../../shared/routes.ts';
import { type Arrival, arrivalOf, type PublicAddress } from './public-address.ts';

/**
 * The event of Lambda proxy integration for `path`, below the stage and as sent, and `query`, without its question mark. No
 * match is the resource `/{proxy+}`, which catches all. Throws a URIError if the path is not validly encoded.
 */
export function proxyEvent(
  request: IncomingMessage,
  {
    requestId,
    path,
    query,
    match,
    address,
  }: {
    requestId: string;
    path: string;
    query: string;
    match?: Match;
    address?: PublicAddress;
  },
): APIGatewayProxyEvent {
  const method = request.method ?? 'GET';
  const rest = path.replace(/^\/+/, '');
  const proxied = rest === '' ? '/' : '/{proxy+}';
  const resource = match ? resourceOf(match.route) : proxied;
  const params = Object.entries(match?.params ?? (rest === '' ? {} : { proxy: rest }));
  const arrival = arrivalOf(request, address);
  const headers = collect(headersOf(request, arrival));
  const now = new Date();
  return {
    resource,
    path,
    httpMethod: method,
    headers: headers.last,
    multiValueHeaders: headers.all,
    ...queryOf(query),
    pathParameters:
      params.length === 0
        ? null
        : Object.fromEntries(params.map(([name, value]) => [name, decodeURIComponent(value)])),
    stageVariables: null,
    body: null,
    isBase64Encoded: false,
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      authorizer: null,
      domainName: arrival.hostname,
      domainPrefix: 'local',
      extendedRequestId: requestId,
      httpMethod: method,
      identity: identityOf(request, arrival),
      path: `/${stage}${path}`,
      protocol: `HTTP/${request.httpVersion}`,
      requestId,
      requestTime: clfTime(now),
      requestTimeEpoch: now.getTime(),
      resourceId: 'local',
      resourcePath: resource,
      stage,
    },
  };
}

function identityOf(
  request: IncomingMessage,
  { client }: Arrival,
): APIGatewayProxyEvent['requestContext']['identity'] {
  return {
    accessKey: null,
    accountId: null,
    apiKey: null,
    apiKeyId: null,
    caller: null,
    clientCert: null,
    cognitoAuthenticationProvider: null,
    cognitoAuthenticationType: null,
    cognitoIdentityId: null,
    cognitoIdentityPoolId: null,
    principalOrgId: null,
    sourceIp: client,
    user: null,
    userAgent: request.headers['user-agent'] ?? null,
    userArn: null,
  };
}

/** Names keep the case in which they were sent. The X-Forwarded headers are API Gateway's own word. */
function headersOf(request: IncomingMessage, arrival: Arrival): [string, string][] {
  const sent = request.rawHeaders.flatMap((name, i, all) =>
    i % 2 === 0 && !/^x-forwarded-(for|port|proto)$/i.test(name) ? [[name, all[i + 1] ?? '']] : [],
  ) as [string, string][];
  return [
    ...sent,
    ['X-Forwarded-For', arrival.forwardedFor],
    ['X-Forwarded-Port', arrival.port],
    ['X-Forwarded-Proto', arrival.protocol],
  ];
}

function queryOf(query: string) {
  const pairs = readPairs(query);
  if (pairs.length === 0) {
    return { queryStringParameters: null, multiValueQueryStringParameters: null };
  }
  const { last, all } = collect(pairs);
  return { queryStringParameters: last, multiValueQueryStringParameters: all };
}

/** Both forms in which API Gateway hands on names that may come more than once: the last value, and all. */
function collect(pairs: readonly [string, string][]) {
  const byName = [...Map.groupBy(pairs, ([name]) => name)];
  const all = byName.map(([name, same]) => [name, same.map(([, value]) => value)] as const);
  return { last: Object.fromEntries(pairs), all: Object.fromEntries(all) };
}

/** The common log format, as in `20/Nov/2026:20:30:00 +0000`. */
function clfTime(date: Date): string {
  const [, day, month, year, time] = date.toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}
