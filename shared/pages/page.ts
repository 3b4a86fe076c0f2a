import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { ApiError, accessDenied } from '../errors.ts';
import { readForm } from '../http/form.ts';
import { partsOf, type RequestSchema, readRequest, requireHttps } from '../http/read-request.ts';
import { countOpenCases } from '../moderation/case-repository.ts';
import { findUser } from '../user/user-repository.ts';
import { canModerate } from '../user/user-type.ts';
import { browserHandler, explain, signInUrl } from './error-page.ts';
import { type FormState, faultsOf } from './fields.ts';
import { type Download, type Redirect, respond } from './html-response.ts';
import type { Page, Visitor } from './layout.ts';
import { leaveNotice, withNotice } from './notice.ts';
import { addressOf, queryOf } from './own-url.ts';
import { isCsrfToken, readSession, Session } from './session.ts';
import { visitorOf } from './visitor.ts';

/** Makes the schema of a request by a signed-in person, as `caller`, with these other parts. */
export function signedIn<T extends v.ObjectEntries>(parts: T) {
  return v.object({ caller: Session, ...parts });
}

/** The event and the signed-in person: always present if the schema has a `caller`. */
interface Visit<T extends RequestSchema> {
  event: APIGatewayProxyEvent;
  visitor: T['entries'] extends { caller: unknown } ? Visitor : Visitor | undefined;
}

type Answer = Page | Redirect | Download;

type Handle<T extends RequestSchema> = (
  request: v.InferOutput<T>,
  visit: Visit<T>,
) => Promise<Answer> | Page | Redirect;

/** Shows a form again as it was sent, with an error beside each invalid field. */
type ShowAgain<T extends RequestSchema> = (
  request: Omit<v.InferOutput<T>, 'body'>,
  filled: FormState,
  visit: Visit<T>,
) => Promise<Page> | Page;

/**
 * Makes a Lambda handler for a page, as `endpoint` does for JSON. If the schema has a `caller`,
 * people sign in first. A form needs the CSRF token of the session. `again` shows an invalid form
 * again.
 *
 * @example
 * export const handler = page(request, async ({ caller }, { visitor }) => ({
 *   title: 'Your votes',
 *   content: html`<p>${visitor.user.display_name} …</p>`,
 * }));
 */
export function page<T extends RequestSchema>(schema: T, handle: Handle<T>, again?: ShowAgain<T>) {
  return browserHandler(async (event) => {
    requireHttps(event);
    const session = await readSession(event);
    const user = session && (await findUser(session.user_id));
    const visitor = await visitorOf(event, session, user);
    try {
      const form = event.httpMethod === 'POST' ? formOf(event) : undefined;
      if (!visitor && 'caller' in schema.entries && !form) return respond(signInFirst(event));
      const parts = { ...partsOf(event), caller: visitor && session, body: form };
      // Without a visitor, a schema with a caller refuses the request.
      const visit = { event, visitor } as Visit<T>;
      const answer =
        form && session && visitor
          ? await takeForm({ schema, handle, again }, parts, visit, { form, session })
          : await handle(readRequest(schema, parts), visit);
      return await finished(answer, event, visitor);
    } catch (error) {
      const explained = explain(error, {
        ids: event.requestContext,
        here: addressOf(event),
        isAccountGone: session !== undefined && user === undefined,
        isBlocked: user?.blocked_at !== undefined,
      });
      return finished(explained, event, visitor);
    }
  });
}

/**
 * The response. Shows the notice of the last change, once, and to moderators the number of open
 * cases.
 */
async function finished(answer: Answer, event: APIGatewayProxyEvent, visitor?: Visitor) {
  if ('file' in answer) return respond(answer);
  const { cookies = [] } = answer;
  if ('location' in answer) {
    if (!answer.notice) return respond(answer);
    return respond({ ...answer, cookies: [...cookies, leaveNotice(answer.notice)] });
  }
  const openCases = visitor && canModerate(visitor.user) ? await countOpenCases() : undefined;
  return respond(withNotice(answer, event), visitor && { ...visitor, openCases });
}

async function takeForm<T extends RequestSchema>(
  { schema, handle, again }: { schema: T; handle: Handle<T>; again: ShowAgain<T> | undefined },
  parts: Parameters<typeof readRequest>[1],
  visit: Visit<T>,
  { form, session }: { form: Record<string, string>; session: Session },
): Promise<Answer> {
  const { body, ...others } = schema.entries;
  const request = readRequest(v.object(others as v.ObjectEntries) as unknown as T, parts);
  if (!(await isCsrfToken(session, form.csrf ?? ''))) {
    throw accessDenied('This page is from before you last signed in, so nothing was changed');
  }
  if (!again || !body) return handle(readRequest(schema, parts), visit);
  const showAgain = async (faults: FormState['faults']): Promise<Page> => {
    const formPage = await again(request, { values: form, faults }, visit);
    return { status: 400, ...formPage };
  };
  const read = v.safeParse(body, form, { abortPipeEarly: true });
  if (!read.success) return showAgain(faultsOf(read.issues, form));
  try {
    return await handle(readRequest(schema, parts), visit);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error;
    return showAgain({ '': `${error.message}.` });
  }
}

/**
 * Reads the form. No body is a form without a CSRF token, whatever its type. Normalizes line ends:
 * browsers send CRLF, which `maxlength` counts as one character.
 */
function formOf(event: APIGatewayProxyEvent): Record<string, string> {
  if (!event.body) return {};
  return Object.fromEntries(
    Object.entries(readForm(event)).map(([name, text]) => [name, text.replaceAll('\r\n', '\n')]),
  );
}

/** The way to sign in, and from there back to this page, or to this page with another query. */
export function signInFirst(event: APIGatewayProxyEvent, query = queryOf(event)): Redirect {
  return { location: signInUrl(addressOf(event, query)) };
}
