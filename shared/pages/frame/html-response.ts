import type { APIGatewayProxyResult } from 'aws-lambda';
import { authUrl } from '../../base/auth-url.ts';
import { site } from '../../base/site/site.ts';
import { withoutControls } from '../../base/without-controls.ts';
import { pictureSources } from '../../core/entity/picture.ts';
import { transportHeaders } from '../../core/http/response.ts';
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

/** A file that a browser saves: a document of JSON, or a table of CSV. */
export type Download = { file: string } & ({ document: object } | { table: string });

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
    const isTable = 'table' in answer;
    headers['Content-Type'] = isTable ? 'text/csv; charset=utf-8' : 'application/json';
    headers['Content-Disposition'] = `attachment; filename="${answer.file}"`;
    const body = isTable ? answer.table : JSON.stringify(answer.document);
    return { statusCode: 200, headers, body };
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
    // A form that is shown again marks the U+0000 for which it was refused.
    body: withoutControls(`${await framed(answer, visitor)}`.replaceAll('\0', '\ufffd')),
    ...withCookies,
  };
}

/**
 * The headers of every page: no script, no form or frame elsewhere. `openerPolicy` adds one more.
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
    ...(!isFramed && { 'X-Frame-Options': 'DENY' }),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
    ...transportHeaders(),
  };
}
