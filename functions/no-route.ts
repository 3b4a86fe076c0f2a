import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { methodNotAllowed, notFound } from '../shared/errors.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { allowedMethods } from '../shared/http/match-route.ts';
import { headerOf, partsOf, readRequest } from '../shared/http/request.ts';
import { commonHeaders } from '../shared/http/response.ts';
import { errorPage } from '../shared/pages/error-page.ts';
import { version } from '../shared/routes.ts';

export const request = v.object({
  method: v.string(),
  path: v.object({ proxy: v.optional(v.string(), '') }),
});

const toPrograms = endpoint(request, (sent) => refuse(sent, 'Path'));
const toPeople = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
  .use(errorPage())
  .handler((event) => refuse(readRequest(request, partsOf(event)), 'Page'));

/** The catch-all gets what matches no route of API Gateway, and a known path with a method that it does not take. */
export function handler(event: APIGatewayProxyEvent, context: Context) {
  if (isBaseUrl(event)) return Promise.resolve(toReference());
  return isForPeople(event) ? toPeople(event, context) : toPrograms(event, context);
}

function refuse({ method, path }: v.InferOutput<typeof request>, what: string): never {
  const methods = allowedMethods(path.proxy);
  // A path that takes this method came here because it was sent with escapes that it needs not: `/%72eview` is no route.
  const isKnown = methods.length > 0 && !methods.includes(method);
  throw isKnown ? methodNotAllowed(methods) : notFound(what);
}

/** True for the base URL itself: everything of the API is below it. */
function isBaseUrl({ httpMethod, pathParameters }: APIGatewayProxyEvent): boolean {
  const path = `/${pathParameters?.proxy ?? ''}`.replaceAll(/\/+/g, '/').replace(/\/$/, '');
  return path === version && (httpMethod === 'GET' || httpMethod === 'HEAD');
}

function toReference(): APIGatewayProxyResult {
  const Location = `${authUrl()}/docs`;
  return { statusCode: 302, headers: { ...commonHeaders, Location }, body: '' };
}

/** Whether a browser asks for what could be a page, outside the API. Browsers say that they take HTML, and no other client is surprised by it. */
function isForPeople(event: APIGatewayProxyEvent): boolean {
  const isOfApi = `/${event.pathParameters?.proxy ?? ''}/`
    .replace(/^\/+/, '/')
    .startsWith(`${version}/`);
  return !isOfApi && /\btext\/html\b/i.test(headerOf(event, 'Accept') ?? '');
}
