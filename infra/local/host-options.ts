import { readSecurityContact } from './host-files.ts';
import { readPublicAddress } from './public-address.ts';

/** Options of the host, as the operator sets them. */
export interface HostOptions {
  /** The address to listen on. */
  host?: string;
  publicUrl?: string;
  trustedProxies?: string;
  securityContact?: string;
  oidcIssuer?: string;
  insecureSignIn?: boolean;
}

/**
 * Validates the options of the host. With a public URL the development sign-in, where anyone signs
 * in as anybody, needs `insecureSignIn`. Throws a sentence for the operator.
 */
export function readHost(options: HostOptions) {
  const { host, publicUrl, trustedProxies, securityContact, oidcIssuer } = options;
  const named = { host, securityContact: securityContact && readSecurityContact(securityContact) };
  if (publicUrl === undefined) {
    if (trustedProxies === undefined) return named;
    throw new Error(
      'TRUSTED_PROXIES needs PUBLIC_URL, the address of the proxy: set PUBLIC_URL as well',
    );
  }
  const { OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = process.env;
  const settings = { OIDC_ISSUER: oidcIssuer, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET };
  const missing = Object.entries(settings).flatMap(([name, value]) => (value ? [] : [name]));
  if (missing.length > 0 && !options.insecureSignIn) {
    throw new Error(
      `PUBLIC_URL needs an identity provider, or anyone could sign in as anybody: set ${missing.join(', ')}. For a demonstration, start with --insecure-sign-in instead`,
    );
  }
  return { ...named, address: readPublicAddress(publicUrl, trustedProxies) };
}
