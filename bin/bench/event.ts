import type { APIGatewayProxyEvent } from 'aws-lambda';

/** A request as an endpoint sees it. */
export interface BenchRequest {
  method?: string;
  path?: Record<string, string | undefined>;
  query?: Record<string, string | undefined>;
  headers?: Record<string, string>;
  body?: unknown;
  caller?: { user_id: string; client_id: string; scope: string };
}

/** The event of Lambda proxy integration, as far as handlers look at it. */
export function eventOf({
  method = 'GET',
  path,
  query,
  headers = { 'Content-Type': 'application/json' },
  body,
  caller,
}: BenchRequest): APIGatewayProxyEvent {
  const lists = (values: Record<string, string | undefined>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
  return {
    resource: '/1/bench',
    path: '/1/bench',
    httpMethod: method,
    headers: { ...headers, 'X-Forwarded-Proto': 'https' },
    multiValueHeaders: lists(headers),
    queryStringParameters: query ?? null,
    multiValueQueryStringParameters: query && lists(query),
    pathParameters: path ?? null,
    stageVariables: null,
    body: typeof body === 'string' ? body : body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: { requestId: 'bench', authorizer: caller, httpMethod: method },
  } as unknown as APIGatewayProxyEvent;
}
