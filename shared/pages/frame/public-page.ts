import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type * as v from 'valibot';
import { partsOf, type RequestSchema, readRequest } from '../../core/http/read-request.ts';
import { Answer, brieflyShared, publicAnswer } from '../../core/http/response.ts';
import { renewSession } from '../session/session.ts';
import { browserHandler } from './error-page.ts';
import { type Redirect, respond } from './html-response.ts';
import type { Page, Visitor } from './layout.ts';
import { signInUrl } from './next-steps.ts';
import { withNotice } from './notice.ts';
import { addressOf, queryOf } from './own-url.ts';
import { findVisitor } from './visitor.ts';

/**
 * Makes a Lambda handler for a public page that greets people who are signed in. For anyone else it
 * is the same for everybody, with an ETag, and caches keep it as long as a list.
 *
 * The visitor is read while `handle` reads. Await the visitor after the page's own reads, so that a
 * page for somebody signed in takes at most one more round trip.
 * @example
 * export const handler = visitedPage(request, async ({ path: { user_id } }, visitor) => {
 *   const { display_name } = await getUser(user_id);
 *   const isOwn = (await visitor)?.user.id === user_id;
 *   return { title: display_name, content: html`<p>${isOwn && 'This is you.'}</p>` };
 * });
 */
export function visitedPage<T extends RequestSchema>(
  schema: T,
  handle: (
    request: v.InferOutput<T>,
    visitor: Promise<Visitor | undefined>,
  ) => Promise<Page | Redirect>,
) {
  return browserHandler(async (event) => {
    const request = readRequest(schema, partsOf(event));
    const here = addressOf(event, readQuery(schema, event));
    const reading = findVisitor(event, here);
    const [page, visitor] = await Promise.all([handle(request, reading), reading]);
    if ('location' in page) return respond(page);
    if (visitor) {
      const cookies = [...(await renewSession(event)), ...(page.cookies ?? [])];
      const answer = await respond(withNotice({ ...page, cookies }, event), visitor);
      return { ...answer, headers: { ...answer.headers, 'Cache-Control': 'private, no-store' } };
    }
    // Without this, a shared cache would show this page to people who are signed in.
    const Vary = 'Accept-Encoding, Cookie';
    const anonymous = { ...page, here, signIn: signInUrl(here) };
    return shared(await respond(anonymous), event, { Vary });
  });
}

/** The query without parameters that the page does not read: caches may leave them out. */
function readQuery(schema: RequestSchema, event: APIGatewayProxyEvent): string {
  const { query } = schema.entries;
  const names = query && 'entries' in query ? Object.keys(query.entries as object) : [];
  const sent = new URLSearchParams(queryOf(event));
  return `${new URLSearchParams([...sent].filter(([name]) => names.includes(name)))}`;
}

/** Makes a Lambda handler for an HTML document without the frame, the same for everybody. */
export function publicDocument<T extends RequestSchema>(
  schema: T,
  handle: (
    request: v.InferOutput<T>,
    event: APIGatewayProxyEvent,
  ) => Promise<Pick<APIGatewayProxyResult, 'headers' | 'body'>>,
) {
  return browserHandler(async (event) =>
    shared(await handle(readRequest(schema, partsOf(event)), event), event),
  );
}

/** The answer that everybody gets, with an ETag. */
function shared(
  { headers, body }: Pick<APIGatewayProxyResult, 'headers' | 'body'>,
  event: APIGatewayProxyEvent,
  { Vary } = { Vary: 'Accept-Encoding' },
) {
  const { 'Content-Type': type, ...others } = headers as Record<string, string>;
  const answer = new Answer(body, {
    type,
    headers: { ...others, 'Cache-Control': brieflyShared, Vary },
  });
  return publicAnswer(answer, event);
}
