import type { APIGatewayProxyResult } from 'aws-lambda';
import { authUrl } from '../auth-url.ts';
import { type Html, layout, type Visitor } from './layout.ts';
import type { Notice } from './notice.ts';
import { styleSource } from './style.ts';

/** What a person sees. */
export interface Page {
  title: string;
  /** Heading with markup in it, where that is not the title. */
  heading?: Html;
  content: Html;
  status?: number;
  /** Set when a form of it leads out of the service: browsers hold all redirects that answer a form to the policy. */
  isWayOut?: boolean;
  cookies?: readonly string[];
  headers?: Readonly<Record<string, string>>;
  /**
   * Set where access is given: who is new is asked for the public name first, under which it will
   * be used.
   */
  asksName?: boolean;
  /** For search engines, and for who follows a link to the page. */
  description?: string;
  /** Where the browser goes on to by itself, out of the service: a redirect that answers a form would be held to the policy. */
  next?: string;
  /** Set for tables and pages with a column beside the text. */
  isWide?: boolean;
  /** More for the head: other forms of the page, data for search engines. */
  head?: Html;
  /** Set in the middle of a decision: there is no menu to lose it by. */
  isDecision?: boolean;
  /** Set when it is about the end of the session: there is no menu then, and nothing is asked. */
  isLast?: boolean;
}

/** Where a person is sent on to, by GET, and what the page there says of a change. */
export interface Redirect {
  location: string;
  cookies?: readonly string[];
  notice?: Notice;
}

/** A JSON document that a browser saves as a file. */
export interface Download {
  file: string;
  document: object;
}

/** The response of the Lambda proxy integration. */
export async function respond(
  answer: Page | Redirect | Download,
  visitor?: Visitor,
): Promise<APIGatewayProxyResult> {
  if ('file' in answer) {
    return {
      statusCode: 200,
      headers: {
        ...securityHeaders(policyOf({})),
        'Content-Type': 'application/json',
        'Content-Disposition': `attachment; filename="${answer.file}"`,
      },
      body: JSON.stringify(answer.document),
    };
  }
  const cookies = answer.cookies?.length && {
    multiValueHeaders: { 'Set-Cookie': [...answer.cookies] },
  };
  if ('location' in answer) {
    const headers = { ...securityHeaders(policyOf({})), Location: answer.location };
    return { statusCode: 303, headers, body: '', ...cookies };
  }
  const isBare = answer.isDecision || answer.isLast;
  return {
    statusCode: answer.status ?? 200,
    headers: { ...securityHeaders(policyOf(answer)), ...answer.headers },
    body: `${await layout({ ...answer, visitor, isBare })}`,
    ...cookies,
  };
}

/** What a page with our style may load and send. The icon is within the page. */
function policyOf({ isWayOut }: Pick<Page, 'isWayOut'>): string[] {
  return [`style-src ${styleSource}`, 'img-src data:', ...(isWayOut ? [] : ["form-action 'self'"])];
}

/**
 * The headers of every page: no sniffing, no leaking of addresses, nothing from elsewhere but what
 * the content security policy of the page names, nothing kept. No page is framed (RFC 9700 section
 * 4.16), unless it is made for that.
 */
export function securityHeaders(
  policy: readonly string[],
  { isFramed = false } = {},
): Record<string, string> {
  const ancestors = `frame-ancestors ${isFramed ? '*' : "'none'"}`;
  const whole = ["default-src 'none'", ...policy, ancestors, "base-uri 'none'"];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': whole.join('; '),
    ...(!isFramed && { 'X-Frame-Options': 'DENY' }),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    ...(authUrl().startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
  };
}
