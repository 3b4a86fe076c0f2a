import type { APIGatewayProxyResult } from 'aws-lambda';
import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import type { User } from '../user/user.ts';
import { type Html, layout, styleSource } from './layout.ts';
import { nameForm } from './name-form.ts';

/** What a person sees. */
export interface Page {
  title: string;
  content: Html;
  status?: number;
  /** Set when a form of it leads out of the service: browsers hold all redirects that answer a form to the policy. */
  isWayOut?: boolean;
  cookies?: readonly string[];
  headers?: Readonly<Record<string, string>>;
  /** Set when one can say one's name on it: who is new is asked for it on every other page. */
  hasNameField?: boolean;
  /** Where the browser goes on to by itself, out of the service: a redirect that answers a form would be held to the policy. */
  next?: string;
  /** Set when it is about the end of the session: there is no menu then. */
  isBare?: boolean;
}

/** Where a person is sent on to, by GET. */
export interface Redirect {
  location: string;
  cookies?: readonly string[];
}

/** Who is signed in. `csrf` goes into every form, and `here` is the way back to the page. */
export interface Visitor {
  user: User;
  csrf: string;
  here: string;
}

/** The response of the Lambda proxy integration. */
export async function respond(
  answer: Page | Redirect,
  visitor?: Visitor,
): Promise<APIGatewayProxyResult> {
  const cookies = answer.cookies && { multiValueHeaders: { 'Set-Cookie': [...answer.cookies] } };
  if ('location' in answer) {
    const headers = { ...securityHeaders(), Location: answer.location };
    return { statusCode: 303, headers, body: '', ...cookies };
  }
  const known = answer.isBare ? undefined : visitor;
  const content = html`${answer.content}${!answer.hasNameField && known && askForName(known)}`;
  return {
    statusCode: answer.status ?? 200,
    headers: { ...securityHeaders(answer.isWayOut), ...answer.headers },
    body: `${await layout(answer.title, content, known?.csrf, answer.next)}`,
    ...cookies,
  };
}

/** Asks for a public name whoever has only a proposed one: a sign-in does not always say what others may call somebody. */
function askForName({ user, csrf, here }: Visitor): Html | '' {
  return user.has_proposed_name ? nameForm(user.display_name, csrf, here) : '';
}

/** The headers of every page: no frames (RFC 9700 section 4.16), no sniffing, no leaking of addresses, nothing from elsewhere, nothing kept. */
function securityHeaders(isWayOut = false): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `style-src ${styleSource()}`,
    ...(isWayOut ? [] : ["form-action 'self'"]),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy.join('; '),
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    ...(authUrl().startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
  };
}
