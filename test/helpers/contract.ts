import * as v from 'valibot';
import { importFunction } from '../../infra/functions.ts';
import { type Route, routes, stage } from '../../shared/base/routes.ts';
import { matchRoute } from '../../shared/core/http/match-route.ts';
import { ErrorBody, OAuthErrorBody } from '../../shared/core/http/presented.ts';
import { openApiAt } from '../../shared/features/docs/openapi.ts';

/** A response as a client received it, with its route. */
interface Exchange {
  route: Route | undefined;
  method: string;
  status: number;
  body: unknown;
}

/** Exports of the files of JSON endpoints. */
interface Endpoint {
  handler: unknown;
  response?: v.GenericSchema;
}

/** Returns whether the API's description includes the route. It omits pages. */
export const isJson = ({ base, operation }: Route) =>
  base === undefined || operation === 'get-server-metadata';

const load = (route: Route): Promise<Endpoint> => importFunction(route.operation);

const routesByHandler = new Map<unknown, Route>();
const unread = routes.filter(isJson).values();
let reading = Promise.resolve();

/** Returns the route of a handler; undefined for pages and for handlers that a test makes. */
export async function routeOf(handler: unknown): Promise<Route | undefined> {
  reading = reading.then(() => readUpTo(handler));
  await reading;
  return routesByHandler.get(handler);
}

/** Imports endpoints until one is the handler's: to load them all takes a test file 0.1 s. */
async function readUpTo(handler: unknown): Promise<void> {
  while (!routesByHandler.has(handler)) {
    const { value: route } = unread.next();
    if (!route) return;
    routesByHandler.set((await load(route)).handler, route);
  }
}

/** Throws if a response differs from the description of its endpoint, in any field. */
export async function checkResponse({ route, method, status, body }: Exchange): Promise<void> {
  if (method === 'HEAD' || status === 304 || status === 204) return;
  const schema = status < 400 ? route && (await load(route)).response : errorSchemaOf(route);
  const faults = schema ? faultsOf(schema, body) : [];
  if (route && isJson(route)) faults.push(...undocumented(route, status, body));
  if (faults.length > 0) {
    throw new Error(
      `${status} of ${route?.operation ?? 'no route'} is not as described: ${faults.slice(0, 5).join('; ')}`,
    );
  }
}

/** Lists parts of a response that the OpenAPI document lacks: its status, or its error code. */
function undocumented({ path, method }: Route, status: number, body: unknown): string[] {
  const { paths } = openApiAt('https://api.example');
  const documented: Record<string, Record<string, unknown>> = paths;
  const operation = documented[path]?.[method.toLowerCase()];
  if (!operation) return [`OpenAPI has no ${method} ${path}`];
  const { responses } = operation as { responses: Record<string, Documented> };
  const found = responses[status];
  if (!found) return [`OpenAPI has no status ${status}`];
  const codes = Object.keys(found.content?.['application/json']?.examples ?? {});
  const { error } = body as { error?: string };
  return status < 400 || codes.includes(`${error}`)
    ? []
    : [`OpenAPI has no error ${error} of status ${status}`];
}

/** A response of the OpenAPI document. */
interface Documented {
  content?: { 'application/json'?: { examples?: Record<string, unknown> } };
}

function errorSchemaOf(route: Route | undefined) {
  const isOAuth = route?.base === undefined && route?.path.startsWith('/oauth/');
  return isOAuth ? v.union([OAuthErrorBody, ErrorBody]) : ErrorBody;
}

/** Lists faults of `body` against the schema, and fields that the schema does not have. */
export function faultsOf(schema: v.GenericSchema, body: unknown): string[] {
  const { success, issues, output } = v.safeParse(schema, body);
  if (success) return undescribed(body, output, '');
  return issues.map((issue) => `${v.getDotPath(issue) ?? 'the body'}: ${issue.message}`);
}

/** Lists the fields that parsing dropped. */
function undescribed(sent: unknown, parsed: unknown, path: string): string[] {
  if (typeof sent !== 'object' || sent === null) return [];
  const known = parsed as Record<string, unknown>;
  return Object.entries(sent).flatMap(([name, value]) =>
    Object.hasOwn(known, name)
      ? undescribed(value, known[name], `${path}${name}.`)
      : [`${path}${name} is not described`],
  );
}

/** The original `fetch` of Node.js, for tests of a gateway with made-up functions. */
export const uncheckedFetch = globalThis.fetch;

/** Checks every response that a test receives from the service over HTTP. */
globalThis.fetch = async (input, init) => {
  const response = await uncheckedFetch(input, init);
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  const isOurs = pathname.startsWith(`/${stage}/`);
  if (isOurs && response.headers.get('content-type') === 'application/json') {
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
    const text = await response.clone().text();
    await checkResponse({
      route: matchRoute(method, pathname.slice(stage.length + 1))?.route,
      method,
      status: response.status,
      body: text === '' ? undefined : JSON.parse(text),
    });
  }
  return response;
};
