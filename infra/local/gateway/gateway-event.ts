import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { stage } from '../../../shared/base/routes.ts';
import { codingFor } from '../../../shared/core/http/content-coding.ts';
import { readPairs } from '../../../shared/core/http/form.ts';
import { type Match, resourceOf } from '../../../shared/core/http/match-route.ts';
import { arrivalOf, type PublicAddress } from './public-address.ts';

/** Names with values in the order sent. A name may be repeated. */
type Pairs = readonly (readonly [string, string])[];

/**
 * Returns the event of Lambda proxy integration. `path` is the path below the stage, as sent;
 * `query` has no question mark. Without a match the resource is `/{proxy+}`. Throws a URIError if
 * the path is not validly encoded. With `isShared` the event has no header of this client but the
 * coding of the answer, because the answer goes to others too.
 */
export function proxyEvent(
  request: IncomingMessage,
  requestId: string,
  target: {
    path: string;
    query: string;
    match?: Match;
    address?: PublicAddress;
    isShared?: boolean;
  },
): APIGatewayProxyEvent {
  const { path, query, match, address, isShared = false } = target;
  const rest = path.replace(/^\/+/, '');
  const proxied = rest === '' ? '/' : '/{proxy+}';
  const parameters = Object.entries(match?.params ?? (rest === '' ? {} : { proxy: rest }));
  const arrival = arrivalOf(request, address);
  // API Gateway sets the X-Forwarded headers itself. Other names stay as sent.
  const coding = codingFor(request.headers['accept-encoding']);
  const shared = coding ? ['Accept-Encoding', coding] : [];
  const sent = isShared ? shared : request.rawHeaders;
  const headers = sent.flatMap((name, i, all) =>
    i % 2 === 0 && !/^x-forwarded-(for|port|proto)$/i.test(name) ? [[name, all[i + 1] ?? '']] : [],
  ) as [string, string][];
  return gatewayEvent({
    method: request.method ?? 'GET',
    resource: match ? resourceOf(match.route) : proxied,
    path,
    headers: [
      ...headers,
      ['X-Forwarded-For', arrival.forwardedFor],
      ['X-Forwarded-Port', arrival.port],
      ['X-Forwarded-Proto', arrival.protocol],
    ],
    query: readPairs(query),
    pathParameters: Object.fromEntries(
      parameters.map(([name, value]) => [name, decodeURIComponent(value)]),
    ),
    requestId,
    domainName: arrival.hostname,
    sourceIp: arrival.client,
    protocol: `HTTP/${request.httpVersion}`,
  });
}

/** Returns the event with these values, of which `resource` is the path pattern of the route. */
export function gatewayEvent(values: {
  method: string;
  resource: string;
  path: string;
  headers: Pairs;
  query?: Pairs;
  pathParameters?: Record<string, string>;
  body?: string | null;
  authorizer?: APIGatewayProxyEvent['requestContext']['authorizer'];
  requestId: string;
  domainName: string;
  sourceIp: string;
  protocol?: string;
}): APIGatewayProxyEvent {
  const { method, resource, path, headers, query = [], pathParameters = {}, requestId } = values;
  const { body = null, authorizer = null, protocol = 'HTTP/1.1', domainName, sourceIp } = values;
  const now = new Date();
  const headerValues = collect(headers);
  const parameters = query.length === 0 ? { last: null, all: null } : collect(query);
  const userAgent = headers.find(([name]) => /^user-agent$/i.test(name))?.[1] ?? null;
  return {
    resource,
    path,
    httpMethod: method,
    headers: headerValues.last,
    multiValueHeaders: headerValues.all,
    queryStringParameters: parameters.last,
    multiValueQueryStringParameters: parameters.all,
    pathParameters: Object.keys(pathParameters).length === 0 ? null : pathParameters,
    stageVariables: null,
    body,
    isBase64Encoded: false,
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      authorizer,
      domainName,
      domainPrefix: 'local',
      extendedRequestId: requestId,
      httpMethod: method,
      identity: {
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
        sourceIp,
        user: null,
        userAgent,
        userArn: null,
      },
      path: `/${stage}${path}`,
      protocol,
      requestId,
      requestTime: clfTime(now),
      requestTimeEpoch: now.getTime(),
      resourceId: 'local',
      resourcePath: resource,
      stage,
    },
  };
}

/** Returns both forms that API Gateway gives to repeated names: the last value, and all values. */
function collect(pairs: Pairs) {
  const groups = [...Map.groupBy(pairs, ([name]) => name)];
  // Not by assignment, which would set the prototype where the name is `__proto__`.
  const all = groups.map(([name, same]) => [name, same.map(([, value]) => value)] as const);
  return { last: Object.fromEntries(pairs), all: Object.fromEntries(all) };
}

/** Formats a time in the common log format, as in `20/Nov/2026:20:30:00 +0000`. */
function clfTime(date: Date) {
  const [, day, month, year, time] = date.toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}
