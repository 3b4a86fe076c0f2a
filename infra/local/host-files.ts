import type { APIGatewayProxyResult } from 'aws-lambda';
import { commonHeaders } from '../../shared/http/response.ts';
import { stage, version } from '../../shared/routes.ts';
import type { PublicAddress } from './public-address.ts';

interface Host {
  address?: PublicAddress | undefined;
  securityContact?: string | undefined;
}

/** Path of the home page below the public address. The root of the host redirects here. */
const landing = `/${stage}/`;

/** In days. After this time a reader must fetch security.txt again. */
const contactLifetime = 30;

/**
 * Returns the response for paths of the host outside the stage: the root, robots.txt and
 * security.txt. Returns undefined for any other path.
 */
export function hostFile(
  method: string,
  url: string,
  { address, securityContact }: Host,
): APIGatewayProxyResult | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  const path = address?.path ?? '';
  if (url === '/') {
    const Location = path + landing;
    return { statusCode: 302, headers: { Location }, body: `{"message":"See ${Location}"}` };
  }
  if (url === '/robots.txt') return plain(robots(path + landing));
  if (url === '/.well-known/security.txt' && securityContact) {
    return plain(security(securityContact, address));
  }
  return undefined;
}

/**
 * Reads SECURITY_CONTACT: an e-mail address, or a URL of RFC 9116 section 2.5.3. Throws a sentence
 * for the operator.
 */
export function readSecurityContact(contact: string): string {
  const url = /^[^\s:/@]+@[^\s@]+$/.test(contact) ? `mailto:${contact}` : contact;
  if (/^(https:\/\/|mailto:|tel:)\S+$/.test(url)) return url;
  throw new Error(
    `SECURITY_CONTACT ${contact} is not a contact: set it to an e-mail address or URL, such as security@example.org or https://example.org/security`,
  );
}

/**
 * Returns the lines of robots.txt. Search engines may index the home page, the pages of reviews,
 * entities and users, and the documentation, which loads the OpenAPI document.
 */
function robots(top: string): string[] {
  const api = `${top.slice(0, -1)}${version}/`;
  return [
    'User-agent: *',
    `Allow: ${api}openapi.json`,
    `Disallow: ${api}`,
    `Disallow: ${top}account`,
    `Disallow: ${top}oauth/`,
  ];
}

function security(contact: string, address: PublicAddress | undefined): string[] {
  const expires = new Date(Date.now() + contactLifetime * 86_400_000);
  const canonical = address && `${address.url.origin}/.well-known/security.txt`;
  return [
    `Contact: ${contact}`,
    `Expires: ${expires.toISOString()}`,
    ...(canonical ? [`Canonical: ${canonical}`] : []),
  ];
}

function plain(lines: readonly string[]): APIGatewayProxyResult {
  return {
    statusCode: 200,
    headers: {
      ...commonHeaders,
      'Content-Type': 'text/plain; charset=utf-8',
      'Cache-Control': 'public, max-age=3600',
    },
    body: `${lines.join('\n')}\n`,
  };
}
