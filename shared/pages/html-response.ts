import type { APIGatewayProxyResult } from 'aws-lambda';
import { authUrl } from '../auth-url.ts';
import { type Html, layout, type Visitor } from './layout.ts';
import type { Notice } from './notice.ts';
import { styleSource } from './style.ts';

/** A page for people. */
export interface Page {
  title: string;
  /** Heading with markup, if it differs from the title. */
  heading?: Html;
  content: Html;
  status?: number;
  /**
   * Set if a form on the page leads out of the service. Browsers apply the form policy of the page
   * to every redirect that answers a form.
   */
  isWayOut?: boolean;
  cookies?: readonly string[];
  headers?: Readonly<Record<string, string>>;
  /**
   * Set where access is granted. A new user is first asked for a public name, under which the
   * access is used.
   */
  asksName?: boolean;
  /** For search engines and for previews of links. */
  description?: string;
  /**
   * Address outside the service that the browser opens next. A redirect in answer to a form would
   * be blocked by the form policy.
   */
  next?: string;
  /** Set for tables and pages with a column beside the text. */
  isWide?: boolean;
  /** More for the head: alternate formats, data for search engines. */
  head?: Html;
  /** Set during a decision. Leaves out the menu, so that nobody leaves the page by mistake. */
  isDecision?: boolean;
  /** Set at the end of a session. Leaves out the menu and asks for nothing. */
  isLast?: boolean;
}

/** A redirect by GET, with a notice of a change for the next page. */
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

/** Builds the response of the Lambda proxy integration. */
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

/** Content security policy of a page with our style. The icon is inline. */
function policyOf({ isWayOut }: Pick<Page, 'isWayOut'>): string[] {
  return [`style-src ${styleSource}`, 'img-src data:', ...(isWayOut ? [] : ["form-action 'self'"])];
}

/**
 * The headers of every page. They forbid sniffing, referrers, caching, and content from any source
 * that the policy does not name. A page is framed only if it is made for that (RFC 9700 section
 * 4.16).
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
