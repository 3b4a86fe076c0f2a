import type { APIGatewayEventDefaultAuthorizerContext, APIGatewayProxyEvent } from 'aws-lambda';
import { stage } from '../../shared/routes.ts';

/** Names with values in the order sent. A name may be repeated. */
type Pairs = readonly (readonly [string, string])[];

/** Values that differ from request to request. */
export interface EventParts {
  method: string;
  /** The path pattern of the route. `path` is the path below the stage, as sent. */
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
  const parameters = query.length === 0 ? { last: null, all: null } : collect(query);
  return {
    resource,
    path,
    httpMethod: method,
    headers: sent.last,
    multiValueHeaders: sent.all,
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
 * Returns both forms in which API Gateway passes repeated names: the last value, and all values.
 */
function collect(pairs: Pairs) {
  const byName = [...Map.groupBy(pairs, ([name]) => name)];
  const all = byName.map(([name, same]) => [name, same.map(([, value]) => value)] as const);
  return { last: Object.fromEntries(pairs), all: Object.fromEntries(all) };
}

/** Formats a time in the common log format, as in `20/Nov/2026:20:30:00 +0000`. */
function clfTime(date: Date): string {
  const [, day, month, year, time] = date.toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}
