import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import * as v from 'valibot';
import { methodNotAllowed, notFound } from '../shared/errors.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { allowedMethods } from '../shared/http/match-route.ts';
import { headerOf, partsOf, readRequest } from '../shared/http/request.ts';
import { errorPage } from '../shared/pages/error-page.ts';
import { version } from '../shared/routes.ts';

export const request = v.object({ path: v.object({ proxy: v.optional(v.string(), '') }) });

const toPrograms = endpoint(request, ({ path }) => refuse(path.proxy, 'Path'));
const toPeople = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
  .use(errorPage())
  .handler((event) => refuse(readRequest(request, partsOf(event)).path.proxy, 'Page'));

/** The catch-all gets what matches no route of API Gateway, and a known path with a method that it does not take. */
export function handler(event: APIGatewayProxyEvent, context: Context) {
  return isForPeople(event) ? toPeople(event, context) : toPrograms(event, context);
}

function refuse(path: string, what: string): never {
  const methods = allowedMethods(path);
  throw methods.length > 0 ? methodNotAllowed(methods) : notFound(what);
}

/** Whether a browser asks for what could be a page, outside the API. Browsers say that they take HTML, and no other client is surprised by it. */
function isForPeople(event: APIGatewayProxyEvent): boolean {
  const isOfApi = `/${event.pathParameters?.proxy ?? ''}/`
    .replace(/^\/+/, '/')
    .startsWith(`${version}/`);
  return !isOfApi && /\btext\/html\b/i.test(headerOf(event, 'Accept') ?? '');
}
