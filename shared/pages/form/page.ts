import type { APIGatewayProxyEvent } from 'aws-lambda';
import { html } from 'hono/html';
import * as v from 'valibot';
import { ApiError, accessDenied } from '../../errors.ts';
import { largestForm, largestLongForm, readForm } from '../../http/form.ts';
import { partsOf, type RequestSchema, readRequest, requireHttps } from '../../http/read-request.ts';
import { toApiError } from '../../http/response.ts';
import { countOpenCases } from '../../moderation/case-repository.ts';
import { findUser } from '../../user/user-repository.ts';
import { canModerate } from '../../user/user-type.ts';
import { browserHandler, explain, signInUrl } from '../frame/error-page.ts';
import { type Download, type Redirect, respond } from '../frame/html-response.ts';
import type { Page, Visitor } from '../frame/layout.ts';
import { leaveNotice, withNotice } from '../frame/notice.ts';
import { addressOf, queryOf } from '../frame/own-url.ts';
import { visitorOf } from '../frame/visitor.ts';
import { isCsrfToken, readSession, Session } from '../session/session.ts';
import { type FormState, faultsOf } from './fields.ts';
import { isOwnForm, signedOutPage, typedText } from './kept-form.ts';

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

/** The fields of a form as sent. */
type Form = Record<string, string>;

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

interface PageOptions {
  /** Set for a form with a long text: it is shown again after any error. See `isOwnForm`. */
  isKept?: boolean;
}

/** The error of a form from an earlier session, or from another site. */
const outdated = accessDenied(
  'This page is from before you last signed in, so nothing was changed',
);

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
export function page<T extends RequestSchema>(
  schema: T,
  handle: Handle<T>,
  again?: ShowAgain<T>,
  { isKept = false }: PageOptions = {},
) {
  return browserHandler(async (event) => {
    requireHttps(event);
    const session = await readSession(event);
    const user = session && (await findUser(session.user_id));
    const visitor = await visitorOf(event, session, user);
    let form: Form | undefined;
    try {
      const largest = isKept ? largestLongForm : largestForm;
      form = event.httpMethod === 'POST' ? formOf(event, largest) : undefined;
      if (!visitor && 'caller' in schema.entries && !form) return respond(signInFirst(event));
      const parts = { ...partsOf(event), caller: visitor && session, body: form };
      // Without a visitor, a schema with a caller refuses the request.
      const visit = { event, visitor } as Visit<T>;
      const answer =
        form && session && visitor
          ? await takeForm({ schema, handle, again }, parts, visit, { form, session })
          : await handle(readRequest(schema, parts), visit);
      return await finished(answer, event, visitor);
    } catch (thrown) {
      const error = toApiError(thrown, event.requestContext);
      const explained = explain(error, {
        ids: event.requestContext,
        here: addressOf(event),
        isAccountGone: session !== undefined && user === undefined,
        isBlocked: user?.blocked_at !== undefined,
      });
      if (!isKept || !form || !isOwnForm(event)) return finished(explained, event, visitor);
      if (!visitor) return respond(signedOutPage(event, form));
      const visit = { event, visitor } as Visit<T>;
      const kept = await showKept({ schema, again, error }, form, session, visit);
      const { status, headers } = explained;
      const content = html`${explained.content}${form.text && html`<section>${typedText(form)}</section>`}`;
      const answer = kept ? { status, headers, ...kept } : { ...explained, content };
      return finished(answer, event, visitor);
    }
  });
}

/** Shows a form again after an error. Returns undefined if that fails too. */
async function showKept<T extends RequestSchema>(
  { schema, again, error }: { schema: T; again: ShowAgain<T> | undefined; error: ApiError },
  values: Form,
  caller: Session | undefined,
  visit: Visit<T>,
): Promise<Page | undefined> {
  const more = error === outdated ? ' Check the form, and press its button once more.' : '';
  const faults = { '': `${error.message}.${more}` };
  try {
    const request = readRequest(withoutBody(schema), { ...partsOf(visit.event), caller });
    return await again?.(request, { values, faults }, visit);
  } catch {
    return undefined;
  }
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
  { form, session }: { form: Form; session: Session },
): Promise<Answer> {
  const { body } = schema.entries;
  const request = readRequest(withoutBody(schema), parts);
  if (!(await isCsrfToken(session, form.csrf ?? ''))) throw outdated;
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

/** A schema of the other parts of a request. */
function withoutBody<T extends RequestSchema>(schema: T): T {
  const { body: _, ...others } = schema.entries;
  return v.object(others as v.ObjectEntries) as unknown as T;
}

/**
 * Reads the form. No body is a form without a CSRF token, whatever its type. Normalizes line ends:
 * browsers send CRLF, which `maxlength` counts as one character.
 */
function formOf(event: APIGatewayProxyEvent, largest: number): Form {
  if (!event.body) return {};
  return Object.fromEntries(
    Object.entries(readForm(event, largest)).map(([name, text]) => [
      name,
      text.replaceAll('\r\n', '\n'),
    ]),
  );
}

/** The way to sign in, and from there back to this page, or to this page with another query. */
export function signInFirst(event: APIGatewayProxyEvent, query = queryOf(event)): Redirect {
  return { location: signInUrl(addressOf(event, query)) };
}
