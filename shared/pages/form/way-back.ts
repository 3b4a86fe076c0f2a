// The answer to a page or form that failed.
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { html } from 'hono/html';
import * as v from 'valibot';
import { ApiError } from '../../base/errors.ts';
import { partsOf, type RequestSchema, readRequest } from '../../core/http/read-request.ts';
import { toApiError } from '../../core/http/response.ts';
import type { User } from '../../core/user/user.ts';
import { explain } from '../frame/error-page.ts';
import type { Page, Visitor } from '../frame/layout.ts';
import { addressOf } from '../frame/own-url.ts';
import type { Session } from '../session/session.ts';
import { type FormState, faultsOf } from './fields.ts';
import { isFromOwnPage, outdated, type SentForm } from './sent-form.ts';
import { signedOutPage, typedText } from './typed-text.ts';

/** The event and the signed-in person: always present if the schema has a `caller`. */
export interface Visit<T extends RequestSchema> {
  event: APIGatewayProxyEvent;
  visitor: T['entries'] extends { caller: unknown } ? Visitor : Visitor | undefined;
}

/** Shows a form again as it was sent, with an error beside each invalid field. */
export type ShowForm<T extends RequestSchema> = (
  request: Omit<v.InferOutput<T>, 'body'>,
  filled: FormState,
  visit: Visit<T>,
) => Promise<Page> | Page;

/** A request, as far as it came. */
export interface FormAttempt {
  caller: Session | undefined;
  user: User | undefined;
  isAccountGone: boolean;
  form?: SentForm;
  /** Set if the form has the CSRF token of the session, which pages of ours alone have. */
  hasToken?: boolean;
}

interface PageForm<T extends RequestSchema> {
  schema: T;
  showForm: ShowForm<T> | undefined;
  longField: string | undefined;
}

/** The error of one field, if only the handler can find it. `sentence` stands beside the field. */
export class FieldError extends ApiError {
  readonly field: string;

  constructor(field: string, sentence: string) {
    super(400, 'invalid_request', sentence);
    this.field = field;
  }
}

/** Errors that a person can correct in the form. */
const correctable = ['invalid_request', 'precondition_failed'];

/**
 * Answers an error by the form with a sentence, by the page for people who are signed out, or by
 * the error page. A form without a long text is shown again only if the person can correct the
 * error.
 */
export async function answerTo<T extends RequestSchema>(
  thrown: unknown,
  attempt: FormAttempt,
  visit: Visit<T>,
  pageForm: PageForm<T>,
): Promise<Page> {
  const { event, visitor } = visit;
  const { form, hasToken = false } = attempt;
  const { longField } = pageForm;
  const error = toApiError(thrown, event.requestContext);
  const explained = explanationOf(error, attempt, event);
  const mayShow =
    longField === undefined
      ? hasToken && correctable.includes(error.code)
      : hasToken || isFromOwnPage(event);
  if (!form || !mayShow) return explained;
  if (longField && !visitor) return signedOutPage(event, form, longField);
  const { status, headers } = explained;
  try {
    const shown = await showAgain(error, { ...attempt, form }, visit, pageForm);
    return { status, headers, ...shown };
  } catch (later) {
    const page = explanationOf(later, attempt, event);
    const text = longField && form[longField];
    if (!text) return page;
    return { ...page, content: html`${page.content}<section>${typedText(text)}</section>` };
  }
}

/** The error page. */
function explanationOf(
  error: unknown,
  { user, isAccountGone }: FormAttempt,
  event: APIGatewayProxyEvent,
): Page {
  return explain(error, {
    ids: event.requestContext,
    here: addressOf(event),
    isAccountGone,
    isBlocked: user?.blocked_at !== undefined,
  });
}

/** Shows the form again with a sentence. Throws the error if the page has no form to show. */
async function showAgain<T extends RequestSchema>(
  error: ApiError,
  { caller, form }: FormAttempt & { form: SentForm },
  visit: Visit<T>,
  { schema, showForm }: PageForm<T>,
): Promise<Page> {
  if (!showForm) throw error;
  const { body, ...others } = schema.entries;
  const parts = { ...partsOf(visit.event), caller };
  const request = readRequest(v.object(others as v.ObjectEntries), parts);
  const faults = faultsIn(form, body, error);
  return showForm(request as v.InferOutput<T>, { values: form, faults }, visit);
}

/** Returns a sentence for each invalid field, or else for the error. */
function faultsIn(
  form: SentForm,
  body: v.GenericSchema | undefined,
  error: ApiError,
): FormState['faults'] {
  if (error instanceof FieldError) return { [error.field]: error.message };
  const read = body && v.safeParse(body, form, { abortPipeEarly: true });
  const isInvalid = error.code === 'invalid_request' && read?.success === false;
  return isInvalid ? faultsOf(read.issues, form) : { '': sentenceOf(error) };
}

function sentenceOf(error: ApiError): string {
  if (error === outdated)
    return `${error.message}. Check the form, and press its button once more.`;
  if (error.code === 'precondition_failed') {
    return 'This was saved elsewhere after you opened this page, so nothing was changed.';
  }
  return `${error.message}.`;
}
