import { eventOf } from '../../bin/bench/event.ts';
import { loadFunction } from '../../infra/local/invoke.ts';
import { resourceOf } from '../../shared/http/match-route.ts';
import { csrfToken, readSession, startSession } from '../../shared/pages/session.ts';
import { type Route, routes } from '../../shared/routes.ts';
import type { TestUser } from './fixtures.ts';
import { invoke } from './invoke.ts';
import { formOf } from './oauth-client.ts';

process.env.AUTH_URL = 'https://api.example/ws';
process.env.SESSION_KEYS = Buffer.alloc(32, 'session').toString('base64url');

/** Asks for a page, or sends a form of it, as somebody who is signed in. */
export async function ask(
  operation: string,
  { id }: TestUser,
  {
    path = {},
    query,
    form,
  }: Partial<Record<'path' | 'query' | 'form', Record<string, string>>> = {},
) {
  const route = routes.find((each) => each.operation === operation) as Route;
  const handler = await loadFunction(operation);
  const cookie = (await startSession(id)).split(';')[0] ?? '';
  const session = await readSession(eventOf({ headers: { cookie } }));
  const csrf = session && (await csrfToken(session));
  const answer = await invoke(
    (event: object, context: never) => handler({ ...event, resource: resourceOf(route) }, context),
    {
      method: route.method,
      path,
      query,
      headers: {
        cookie,
        ...(form && { 'Content-Type': 'application/x-www-form-urlencoded' }),
      },
      body: form && formOf({ ...form, csrf }),
    },
  );
  return { ...answer, html: `${answer.body}`, shown: { html: `${answer.body}` } as never };
}

/** The cursor in the link to the next page. */
export function nextOn(html: string): string | undefined {
  const [, query] = /href="[^"?]*\?([^"]*)">Next page</.exec(html) ?? [];
  return new URLSearchParams(query?.replaceAll('&amp;', '&')).get('cursor') ?? undefined;
}
