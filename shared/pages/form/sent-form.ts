// A form as a browser sends it.
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { authUrl } from '../../base/auth-url.ts';
import { accessDenied } from '../../base/errors.ts';
import { withoutControls } from '../../base/without-controls.ts';
import { readForm } from '../../core/http/form.ts';
import { isCsrfToken, type Session } from '../session/session.ts';

/** The fields of a form by name. */
export type SentForm = Readonly<Record<string, string>>;

/** The error of a form from an earlier session, or from another site. */
export const outdated = accessDenied(
  'This page is from before you last signed in, so nothing was changed',
);

/**
 * Reads the form. No body is a form without a CSRF token, whatever its type. Normalizes line ends:
 * browsers send CRLF, which `maxlength` counts as one character. Throws like `readForm`.
 */
export function readSent(event: APIGatewayProxyEvent, largest: number): SentForm {
  if (!event.body) return {};
  const fields = Object.entries(readForm(event, largest));
  return Object.fromEntries(fields.map(([name, text]) => [name, text.replaceAll('\r\n', '\n')]));
}

/** Returns a text as a form shows it and sends it back: pages leave controls out. */
export function asInForm(text: string): string {
  return withoutControls(text).replaceAll(/\r\n?/g, '\n');
}

/** Throws `outdated` unless the form has a CSRF token of the session. */
export async function requireToken({ csrf = '' }: SentForm, session: Session): Promise<void> {
  if (!(await isCsrfToken(session, csrf))) throw outdated;
}

/**
 * Returns true if a page of ours sent the form, as browsers report in Fetch Metadata (W3C), and
 * older ones in Origin alone. The text of another site is never shown, because it would look as if
 * the person had typed it.
 */
export function isFromOwnPage({ headers }: APIGatewayProxyEvent): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return headers.origin === new URL(authUrl()).origin;
}
