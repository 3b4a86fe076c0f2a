import * as v from 'valibot';
import { methodNotAllowed, notFound } from '../shared/errors.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { allowedMethods } from '../shared/http/match-route.ts';

export const request = v.object({ path: v.object({ proxy: v.optional(v.string(), '') }) });

/** The catch-all: API Gateway sends here what matches no route, and a known path with a method that it does not take. */
export const handler = endpoint(request, ({ path }) => {
  const methods = allowedMethods(path.proxy);
  throw methods.length > 0 ? methodNotAllowed(methods) : notFound('Path');
});
