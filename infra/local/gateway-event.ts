import type { APIGatewayEventDefaultAuthorizerContext, APIGatewayProxyEvent } from 'aws-lambda';
import { stage } from '../../shared/routes.ts';

/** Names with values, in the order in which they were sent; a name may come more than once. */
type Pairs = readonly (readonly [string, string])[];

/** Parts in which the event of one request differs from that of another. */
export interface EventParts {
  method: string;
  /** The path pattern of the route; and the path below the stage, as sent. */
  resource: string;
  path: string;
  headers: Pairs;
  query?: Pairs;
  pathParameters?: Record<string, string>;
  body?: string | null;
  authorizer?: APIGatewayEventDefaultAuthorizerContext;
  requestId: string;
  domainName: string;
  sourceIp: string;
  protocol?: string;
}

/** The event of Lambda proxy integration. */
export function gatewayEvent({
  method,
  resource,
  path,
  headers,
  query = [],
  pathParameters = {},
  body = null,
  authorizer = null,
  requestId,
  domainName,
  sourceIp,
  protocol = 'HTTP/1.1',
}: EventParts): APIGatewayProxyEvent {
  const now = new Date();
  const sent = collect(headers);
  const asked = query.length === 0 ? { last: null, all: null } : collect(query);
  return {
    resource,
    path,
    httpMethod: method,
    headers: sent.last,
    multiValueHeaders: sent.all,
    queryStringParameters: asked.last,
    multiValueQueryStringParameters: asked.all,
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
        userAgent: headers.find(([name]) => /^user-agent$/i.test(name))?.[1] ?? null,
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

/**
 * Both forms in which API Gateway hands on names that may come more than once: the last value, and
 * all.
 */
function collect(pairs: Pairs) {
  const byName = [...Map.groupBy(pairs, ([name]) => name)];
  const all = byName.map(([name, same]) => [name, same.map(([, value]) => value)] as const);
  return { last: Object.fromEntries(pairs), all: Object.fromEntries(all) };
}

/** The common log format, as in `20/Nov/2026:20:30:00 +0000`. */
function clfTime(date: Date): string {
  const [, day, month, year, time] = date.toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}
