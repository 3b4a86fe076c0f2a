import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { largestForm, largestLongForm, readFileForm } from '../../core/http/form.ts';
import {
  partsOf,
  type RequestSchema,
  readRequest,
  requireHttps,
} from '../../core/http/read-request.ts';
import { findUser } from '../../core/user/user-repository.ts';
import { browserHandler } from '../frame/error-page.ts';
import { type Download, type Redirect, respond } from '../frame/html-response.ts';
import type { Page, Visitor } from '../frame/layout.ts';
import { signInUrl } from '../frame/next-steps.ts';
import { leaveNotice, withNotice } from '../frame/notice.ts';
import { addressOf, queryOf } from '../frame/own-url.ts';
import { visitorOf, withWaiting } from '../frame/visitor.ts';
import { readSession, renewSession, Session } from '../session/session.ts';
import { readSent, requireToken } from './sent-form.ts';
import { answerTo, type FormAttempt, type ShowForm, type Visit } from './way-back.ts';

/** Makes the schema of a request by a signed-in person, as `caller`, with these other parts. */
export function signedIn<T extends v.ObjectEntries>(parts: T) {
  return v.object({ caller: Session, ...parts });
}

type Answer = Page | Redirect | Download;

type Handle<T extends RequestSchema> = (
  request: v.InferOutput<T>,
  visit: Visit<T>,
) => Promise<Answer> | Page | Redirect;

interface PageOptions {
  /** Name of a long text of the form. The text is shown again after any error. */
  longField?: string;
  /** Set for a form with a file, whose text is a field. */
  hasFile?: true;
}

/**
 * Makes a Lambda handler for a page, as `endpoint` does for JSON. If the schema has a `caller`,
 * people sign in first. A form needs the CSRF token of the session. `showForm` shows the form again
 * after an error that the person can correct.
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
  showForm?: ShowForm<T>,
  { longField, hasFile }: PageOptions = {},
) {
  return browserHandler(async (event) => {
    requireHttps(event);
    const session = await readSession(event);
    const user = session && (await findUser(session.user_id));
    const visitor = await visitorOf(event, session, user);
    const isForm = event.httpMethod === 'POST';
    if (!visitor && !isForm && 'caller' in schema.entries) return respond(signInFirst(event));
    // Without a visitor, a schema with a caller refuses the request.
    const visit = { event, visitor } as Visit<T>;
    const caller = visitor && session;
    const attempt: FormAttempt = { caller, user, isAccountGone: session !== undefined && !user };
    try {
      if (isForm && hasFile) attempt.form = await readFileForm(event);
      else if (isForm) attempt.form = readSent(event, longField ? largestLongForm : largestForm);
      if (attempt.form && caller) {
        await requireToken(attempt.form, caller);
        attempt.hasToken = true;
      }
      const request = readRequest(schema, { ...partsOf(event), caller, body: attempt.form });
      return await finished(await handle(request, visit), event, visitor);
    } catch (error) {
      const answer = await answerTo(error, attempt, visit, { schema, showForm, longField });
      return finished(answer, event, visitor);
    }
  });
}

/**
 * The response. Shows the notice of the last change, once, and to moderators how much waits.
 */
async function finished(answer: Answer, event: APIGatewayProxyEvent, visitor?: Visitor) {
  if ('file' in answer) return respond(answer);
  const renewal = visitor ? await renewSession(event) : [];
  // The answer may end the session, or begin another one.
  const cookies = [...renewal, ...(answer.cookies ?? [])];
  if ('location' in answer) {
    if (!answer.notice) return respond({ ...answer, cookies });
    return respond({ ...answer, cookies: [...cookies, leaveNotice(answer.notice)] });
  }
  // After a decision, which the number shows.
  const shown = withNotice({ ...answer, cookies }, event);
  return respond(shown, visitor && (await withWaiting(visitor)));
}

/** Redirects to the sign-in, which returns to this page, or to this page with another query. */
export function signInFirst(event: APIGatewayProxyEvent, query = queryOf(event)): Redirect {
  return { location: signInUrl(addressOf(event, query)) };
}
