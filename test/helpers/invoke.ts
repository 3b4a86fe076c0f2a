import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { checkResponse, routeOf } from './contract.ts';

/** What a test says of a request; the rest of the event is what API Gateway would make of it. */
export interface TestRequest {
  method?: string;
  path?: Record<string, string>;
  /** A list of values is a parameter that is sent more than once. */
  query?: Record<string, string | readonly string[]>;
  /** Text is sent as it is, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string | readonly string[]>;
  caller?: { user_id: string; client_id: string; scope: string };
}

/** A response, with its body parsed where it is JSON. */
export interface TestResponse {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it before it has proved what is there.
  body: any;
}

type Handler = (event: APIGatewayProxyEvent, context: Context) => unknown;

/** Calls a handler as API Gateway's REST API does with Lambda proxy integration. The response must be as its endpoint describes it. */
export async function invoke(handler: unknown, request: TestRequest = {}): Promise<TestResponse> {
  const event = proxyEvent(request);
  const result = (await (handler as Handler)(event, lambdaContext())) as APIGatewayProxyResult;
  const headers = Object.fromEntries(
    Object.entries(result.headers ?? {}).map(([name, value]) => [name.toLowerCase(), `${value}`]),
  );
  const isJson = headers['content-type'] === 'application/json';
  const body = isJson && result.body !== '' ? JSON.parse(result.body) : result.body;
  const route = await routeOf(handler);
  const { method = 'GET' } = request;
  if (route) await checkResponse({ route, method, status: result.statusCode, body });
  return { status: result.statusCode, headers, body };
}

/** The event of Lambda proxy integration. */
export function proxyEvent({
  method = 'GET',
  path,
  query,
  body,
  headers = body === undefined ? {} : { 'content-type': 'application/json' },
  caller,
}: TestRequest): APIGatewayProxyEvent {
  const sent = mapValues(
    { Host: 'api.example', 'X-Forwarded-Proto': 'https', ...headers },
    (value) => [value].flat(),
  );
  const values = query && mapValues(query, (value) => [value].flat());
  const requestId = randomUUID();
  return {
    resource: '/1/test',
    path: '/1/test',
    httpMethod: method,
    headers: mapValues(sent, (all) => all.at(-1)),
    multiValueHeaders: sent,
    queryStringParameters: values ? mapValues(values, (all) => all.at(-1)) : null,
    multiValueQueryStringParameters: values ?? null,
    pathParameters: path ?? null,
    stageVariables: null,
    body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: {
      accountId: '000000000000',
      apiId: 'test',
      authorizer: caller && { principalId: caller.user_id, ...caller },
      domainName: 'api.example',
      domainPrefix: 'api',
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
        sourceIp: '192.0.2.1',
        user: null,
        userAgent: 'test',
        userArn: null,
      },
      path: '/ws/1/test',
      protocol: 'HTTP/1.1',
      requestId,
      requestTime: '20/Nov/2026:20:30:00 +0000',
      requestTimeEpoch: Date.now(),
      resourceId: 'test',
      resourcePath: '/1/test',
      stage: 'ws',
    },
  };
}

/** What Lambda tells a handler about its run. */
export function lambdaContext(): Context {
  return {
    awsRequestId: randomUUID(),
    callbackWaitsForEmptyEventLoop: false,
    functionName: 'test',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:test',
    logGroupName: '/aws/lambda/test',
    logStreamName: 'test',
    memoryLimitInMB: '512',
    getRemainingTimeInMillis: () => 29_000,
    done() {},
    fail() {},
    succeed() {},
  };
}

function mapValues<A, B>(from: Record<string, A>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [name, map(value)]));
}
