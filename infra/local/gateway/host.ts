import type { APIGatewayProxyResult } from 'aws-lambda';
import { authUrl } from '../../../shared/base/auth-url.ts';
import { isInRanges, loopbackRanges, parseRanges } from '../../../shared/base/ip-ranges.ts';
import { stage, version } from '../../../shared/base/routes.ts';
import { readContact } from '../../../shared/base/site/contact.ts';
import { siteContent } from '../../../shared/base/site/content.ts';
import { site } from '../../../shared/base/site/site.ts';
import { commonHeaders, transportHeaders } from '../../../shared/core/http/response.ts';
import { iconImage } from '../../../shared/pages/frame/mark.ts';
import { type PublicAddress, readPublicAddress } from './public-address.ts';

export interface HostOptions {
  /** The address to listen on. */
  host?: string;
  publicUrl?: string;
  trustedProxies?: string;
  securityContact?: string;
  /** Requests a second of each client address, 0 for no limit. */
  clientRateLimit?: number;
  oidcIssuer?: string;
  insecureSignIn?: boolean;
  /** People sign in by mail, so no other provider is needed. */
  hasMail?: boolean;
  /** IP addresses and ranges of an intranet that webhooks may reach. */
  webhookAllow?: string;
}

/**
 * Validates the options of the host. With a public URL, or on an address that other machines reach,
 * the development sign-in needs `insecureSignIn`, because anyone signs in there as anybody.
 * Throws a sentence for the operator.
 */
export function readHost(options: HostOptions) {
  const { host, publicUrl, trustedProxies, securityContact, oidcIssuer } = options;
  const named = {
    host,
    securityContact: securityContact
      ? readContact('SECURITY_CONTACT', securityContact)
      : site().contact,
    clientRateLimit: options.clientRateLimit,
    isLaptop: isLaptop(options),
    webhookAllow: readWebhookAllow(options),
  };
  if (publicUrl === undefined && trustedProxies !== undefined) {
    throw new Error(
      'TRUSTED_PROXIES needs PUBLIC_URL, the address of the proxy: set PUBLIC_URL as well',
    );
  }
  if (named.isLaptop) return named;
  const { OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = process.env;
  const settings = { OIDC_ISSUER: oidcIssuer, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET };
  const missing = Object.entries(settings).flatMap(([name, value]) => (value ? [] : [name]));
  const isSafe = missing.length === 0 || (options.hasMail && !oidcIssuer);
  if (!isSafe && !options.insecureSignIn) {
    const reachable = publicUrl === undefined ? `--host ${host}` : 'PUBLIC_URL';
    throw new Error(
      `${reachable} needs an identity provider, or anyone could sign in as anybody: set ${missing.join(', ')}, or SMTP_URL and MAIL_FROM for a sign-in by mail. For a demonstration, start with --insecure-sign-in instead`,
    );
  }
  if (publicUrl === undefined) return named;
  return { ...named, address: readPublicAddress(publicUrl, trustedProxies) };
}

/**
 * Returns the ranges that webhooks may reach beside the public ones. They include this machine, if
 * only this machine reaches the service. Throws a sentence for the operator.
 */
function readWebhookAllow(options: HostOptions) {
  const { webhookAllow = '' } = options;
  parseRanges('WEBHOOK_ALLOW', webhookAllow);
  return isLaptop(options) ? `${loopbackRanges} ${webhookAllow}`.trim() : webhookAllow;
}

/** Returns true if only this machine reaches the service. */
function isLaptop({ host = 'localhost', publicUrl }: HostOptions) {
  return publicUrl === undefined && isLoopback(host);
}

/** Returns true if only this machine reaches `host`. Names other than localhost count as open. */
function isLoopback(host: string) {
  return host === 'localhost' || isInRanges(parseRanges('loopback', loopbackRanges), host);
}

/**
 * Returns the response for paths of the host outside the stage: the root, robots.txt,
 * favicon.ico and security.txt. Returns undefined for any other path.
 */
export function hostFile(
  method: string,
  url: string,
  { address, securityContact }: { address?: PublicAddress; securityContact?: string },
): APIGatewayProxyResult | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  const top = `${address?.path ?? ''}/${stage}/`;
  const [path = '', ...query] = url.split(/(?=\?)/);
  if (path === '/') {
    const headers = { ...commonHeaders, ...transportHeaders(), Location: top + query.join('') };
    return { statusCode: 302, headers, body: `{"message":"See ${top}"}` };
  }
  if (path === '/robots.txt') {
    const api = `${top.slice(0, -1)}${version}/`;
    // A search of crawlers would take the turn of a person's.
    const paths = [api, `${top}account`, `${top}oauth/`, `${top}find?`];
    const hidden = paths.map((path) => `Disallow: ${path}`);
    const sitemap = `Sitemap: ${authUrl()}/sitemap.xml`;
    // The page of the documentation loads the OpenAPI document, and pages offer feeds.
    const shown = [`Allow: ${api}openapi.json`, `Allow: ${api}*.atom`];
    return plain(['User-agent: *', ...shown, ...hidden, sitemap]);
  }
  // Browsers ask for it when they show JSON. Pages have the icon inline.
  if (path === '/favicon.ico') return file('image/svg+xml', siteContent().logo ?? iconImage());
  if (path === '/.well-known/security.txt' && securityContact) {
    // After 30 days a reader must fetch the file again.
    const expires = new Date(Date.now() + 30 * 86_400_000).toISOString();
    const canonical = address ? [`Canonical: ${address.url.origin}${path}`] : [];
    return plain([`Contact: ${securityContact}`, `Expires: ${expires}`, ...canonical]);
  }
  return undefined;
}

function plain(lines: readonly string[]) {
  return file('text/plain; charset=utf-8', `${lines.join('\n')}\n`);
}

function file(type: string, body: string) {
  return {
    statusCode: 200,
    headers: {
      ...commonHeaders,
      ...transportHeaders(),
      'Content-Type': type,
      'Cache-Control': 'public, max-age=3600',
    },
    body,
  };
}
