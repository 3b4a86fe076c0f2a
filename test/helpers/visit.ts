import { eventOf } from '../../infra/local/gateway/endpoint-event.ts';
import { loadFunction } from '../../infra/local/invoke.ts';
import type { Route } from '../../shared/base/routes.ts';
import { resourceOf } from '../../shared/core/http/match-route.ts';
import { csrfToken, readSession, startSession } from '../../shared/pages/session/session.ts';
import { call, type TestResponse } from './invoke.ts';
import { formOf } from './oauth-client.ts';
import { routeOf } from './routes.ts';
import type { Person } from './world.ts';

type Fields = Record<string, string>;

interface PageRequest {
  path?: Fields;
  query?: Fields;
  headers?: Fields;
  /** The fields of a form, or a malformed form. */
  form?: Fields | string;
}

/** Requests a page by its route. A POST request sends a form. */
export async function requestPage(route: Route, request: PageRequest): Promise<TestResponse> {
  const handler = await loadFunction(route.operation);
  const withResource = (event: object, context: never) =>
    handler({ ...event, resource: resourceOf(route) }, context);
  return call(withResource, await pageRequest(route, request), route);
}

/** Returns the HTML of a page, as somebody who is not signed in sees it. */
export async function pageOf(operation: string, request: PageRequest = {}): Promise<string> {
  const answer = await requestPage(routeOf(operation), request);
  expect(answer).toHaveStatus(200);
  return `${answer.body}`;
}

/** Returns the request of a page, which has the form in its body. */
export async function pageRequest(
  route: Route,
  { path, query, headers = {}, form = {} }: PageRequest,
) {
  const { method } = route;
  const { type, body } =
    route.takesFile && typeof form !== 'string'
      ? await formWithFile(form)
      : {
          type: 'application/x-www-form-urlencoded',
          body: typeof form === 'string' ? form : formOf(form),
        };
  const sent = method === 'POST' && { headers: { 'Content-Type': type, ...headers }, body };
  return { method, path, query, headers, ...sent };
}

/** A form with a file in the field of this name, as a browser sends it. */
export async function formWithFile({ file = '', ...fields }: Fields) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new File([file], 'export.csv', { type: 'text/csv' }));
  const request = new Response(form);
  return { type: request.headers.get('content-type') ?? '', body: await request.text() };
}

/** Starts a session. Returns its cookie, and the token that its forms send. */
export async function signInAs(id: string): Promise<{ cookie: string; csrf: string }> {
  const cookie = (await startSession(id)).split(';')[0] ?? '';
  const session = await readSession(eventOf({ headers: { cookie } }));
  return { cookie, csrf: session ? await csrfToken(session) : '' };
}

/** Asks for a page, or sends a form of it, as somebody who is signed in. */
export async function ask(
  operation: string,
  { id }: Person,
  {
    path,
    query,
    form,
    cookie: also,
    headers: others,
  }: { path?: Fields; query?: Fields; form?: Fields; cookie?: string; headers?: Fields } = {},
) {
  const route = routeOf(operation);
  const { cookie, csrf } = await signInAs(id);
  const headers = { ...others, cookie: also ? `${cookie}; ${also}` : cookie };
  const request = { path, query, headers, form: { ...form, csrf } };
  const answer = await requestPage(route, request);
  return { ...answer, html: `${answer.body}`, shown: { html: `${answer.body}` } as never };
}

/** Returns the HTML of a page, as somebody who is signed in sees it. */
export async function pageFor(
  operation: string,
  person: Person,
  request?: PageRequest & { form?: Fields },
): Promise<string> {
  const answer = await ask(operation, person, request);
  expect(answer).toHaveStatus(200);
  return answer.html;
}

/** The cursor in the link to the next page. */
export function nextOn(html: string): string | undefined {
  const [, query] = /href="[^"?]*\?([^"]*)">Next page</.exec(html) ?? [];
  return new URLSearchParams(query?.replaceAll('&amp;', '&')).get('cursor') ?? undefined;
}

/** Opens all pages of a list as somebody who is signed in, from the first on. */
export async function* pagesOf(operation: string, person: Person, query: Fields = {}) {
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page = await ask(operation, person, { query: { ...query, ...(cursor && { cursor }) } });
    yield page;
    cursor = nextOn(page.html);
  }
}

/** The text of a page, with single spaces. */
export const textIn = (html: string) => html.replaceAll(/<[^>]*>|\s+/g, ' ').replaceAll(/ +/g, ' ');

/** The ids of the reviews that a page or a part of it lists, in their order. */
export const reviewsIn = (html = '') =>
  [...html.matchAll(/\/ws\/review\/([\da-f-]{36})"><time/g)].map(([, id = '']) => id);
