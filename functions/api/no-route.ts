import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { methodNotAllowed, notFound } from '../../shared/base/errors.ts';
import { version } from '../../shared/base/routes.ts';
import { Uuid } from '../../shared/base/values.ts';
import { databaseTypes } from '../../shared/core/entity/databases.ts';
import { endpoint } from '../../shared/core/http/endpoint.ts';
import { allowedMethods } from '../../shared/core/http/match-route.ts';
import { partsOf, readRequest } from '../../shared/core/http/read-request.ts';
import { commonHeaders, transportHeaders } from '../../shared/core/http/response.ts';
import { wholeEvent } from '../../shared/core/http/whole-event.ts';
import { browserHandler } from '../../shared/pages/frame/error-page.ts';

// The names `no-route`, `authorizer` and `eraser` are nouns, because these functions are no
// operations of a route. Other names would replace the deployed functions and delete their logs.

export const request = v.object({
  method: v.string(),
  path: v.object({ proxy: v.optional(v.string(), '') }),
});

const asJson = endpoint(request, (parts) => refuse(parts, 'Path'));
const asPage = browserHandler((event) => refuse(readRequest(request, partsOf(event)), 'Page'));

/** Types in the addresses of CritiqueBrainz's pages, such as `/release-group/{id}`. */
const olderPage = new RegExp(
  `^/(${databaseTypes.map((type) => type.replace(/^bk_/, '').replace('_', '-')).join('|')})/([\\da-fA-F-]{36})/$`,
);

/** Returns where a GET of this path leads, if it is an address of another time or place. */
function placeOf(path: string): string | undefined {
  if (path === `${version}/`) return '/docs';
  const [, type, id] = olderPage.exec(path) ?? [];
  if (!type || !v.is(Uuid, id)) return undefined;
  const name = type.replace('-', '_');
  return `/entity/${id}?entity_type=${databaseTypes.find((each) => each.endsWith(name))}`;
}

/** Catches requests that match no route, and known paths with an unsupported method. */
export const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
  .use(wholeEvent())
  .handler((event, context) => {
    const path = `/${event.pathParameters?.proxy ?? ''}/`.replaceAll(/\/+/g, '/');
    const place = ['GET', 'HEAD'].includes(event.httpMethod) ? placeOf(path) : undefined;
    if (place !== undefined) {
      const headers = { ...commonHeaders, ...transportHeaders(), Location: authUrl() + place };
      return { statusCode: 302, headers, body: '' };
    }
    // Browsers accept HTML, and other clients rarely do.
    const isBrowser = /\btext\/html\b/i.test(event.headers.accept ?? '');
    const isPage = isBrowser && !path.startsWith(`${version}/`);
    return isPage ? asPage(event, context) : asJson(event, context);
  });

function refuse({ method, path }: v.InferOutput<typeof request>, what: string): never {
  const methods = allowedMethods(path.proxy);
  // A path that supports this method arrives here if it has needless escapes, such as `/%72eview`.
  const isKnown = methods.length > 0 && !methods.includes(method);
  throw isKnown ? methodNotAllowed(methods) : notFound(what);
}
