import { readSecurityContact } from './host-files.ts';
import { readPublicAddress } from './public-address.ts';

/** The host as the operator describes it. */
export interface HostOptions {
  /** The address to listen at. */
  host?: string;
  publicUrl?: string;
  trustedProxies?: string;
  securityContact?: string;
  oidcIssuer?: string;
  insecureSignIn?: boolean;
}

/**
 * The host as people meet it. In public nobody signs in as anybody, unless the operator wants that.
 * Throws a sentence for the operator.
 */
export function readHost(options: HostOptions) {
  const { host, publicUrl, trustedProxies, securityContact, oidcIssuer } = options;
  const named = { host, securityContact: securityContact && readSecurityContact(securityContact) };
  if (publicUrl === undefined) {
    if (trustedProxies === undefined) return named;
    throw new Error('TRUSTED_PROXIES is for a service behind a proxy: set PUBLIC_URL as well');
  }
  const { OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = process.env;
  const settings = { OIDC_ISSUER: oidcIssuer, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET };
  const missing = Object.entries(settings).flatMap(([name, value]) => (value ? [] : [name]));
  if (missing.length > 0 && !options.insecureSignIn) {
    throw new Error(
      `PUBLIC_URL needs an identity provider, or anybody could sign in as anybody: set ${missing.join(', ')}, or for a demonstration start with --insecure-sign-in`,
    );
  }
  return { ...named, address: readPublicAddress(publicUrl, trustedProxies) };
}
