import type { APIGatewayProxyResult } from 'aws-lambda';
import { authUrl } from '../../auth-url.ts';
import { pictureSources } from '../../entity/picture.ts';
import { transportHeaders } from '../../http/response.ts';
import { site } from '../../site/site.ts';
import { framed } from './frame.ts';
import type { Page, Visitor } from './layout.ts';
import type { Notice } from './notice.ts';
import { style } from './style.ts';

/** A redirect by GET, with a notice of a change for the next page. */
export interface Redirect {
  /** A path below {auth_url}, or a whole address. */
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
  const images = ['data:', ...(site().logo ? ["'self'"] : []), ...pictureSources()];
  const policy = [`style-src ${style().source}`, `img-src ${images.join(' ')}`];
  if (!('content' in answer && answer.isDecision)) policy.push("form-action 'self'");
  const headers = securityHeaders(policy);
  if ('file' in answer) {
    headers['Content-Type'] = 'application/json';
    headers['Content-Disposition'] = `attachment; filename="${answer.file}"`;
    return { statusCode: 200, headers, body: JSON.stringify(answer.document) };
  }
  const { cookies = [] } = answer;
  const withCookies = cookies.length > 0 && { multiValueHeaders: { 'Set-Cookie': [...cookies] } };
  if ('location' in answer) {
    const { location } = answer;
    const Location = location.startsWith('/') ? authUrl() + location : location;
    return { statusCode: 303, headers: { ...headers, Location }, body: '', ...withCookies };
  }
  return {
    statusCode: answer.status ?? 200,
    headers: { ...headers, ...answer.headers },
    // HTML has no U+0000, which a form may hold that is shown again.
    body: `${await framed(answer, visitor)}`.replaceAll('\0', '\ufffd'),
    ...withCookies,
  };
}

/**
 * The headers of every page: no script, no form or frame elsewhere, no hold of other windows on it.
 * Only a page made for it can be framed (RFC 9700 section 4.16). A form of ours names its origin.
 */
export function securityHeaders(
  policy: readonly string[],
  { isFramed = false } = {},
): Record<string, string> {
  const directives = [
    "default-src 'none'",
    ...policy,
    `frame-ancestors ${isFramed ? '*' : "'none'"}`,
    "base-uri 'none'",
  ];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': directives.join('; '),
    ...(!isFramed && { 'X-Frame-Options': 'DENY', 'Cross-Origin-Opener-Policy': 'same-origin' }),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
    ...transportHeaders(),
  };
}
