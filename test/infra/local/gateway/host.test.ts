import { readHost } from '../../../../infra/local/gateway/host.ts';

const oidcIssuer = 'https://login.example.org';

const open = ['0.0.0.0', '::', '192.168.0.7', '::ffff:192.168.0.7', 'reviews.local', '0', ''];
const loopback = [undefined, 'localhost', '127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'];

describe('an address that other machines reach', () => {
  test.each(open)('needs an identity provider: %j', (host) => {
    const needs = (names: string) =>
      `--host ${host} needs an identity provider, or anyone could sign in as anybody: set ${names}, or SMTP_URL and MAIL_FROM for a sign-in by mail. For a demonstration, start with --insecure-sign-in instead`;
    expect(() => readHost({ host })).toThrow(
      needs('OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET'),
    );
    process.env.OIDC_CLIENT_ID = 'reviews';
    expect(() => readHost({ host, oidcIssuer })).toThrow(needs('OIDC_CLIENT_SECRET'));
    process.env.OIDC_CLIENT_SECRET = 'secret';
    expect(readHost({ host, oidcIssuer }).host).toBe(host);
  });

  test.each(open)('needs none if people sign in by mail: %j', (host) => {
    expect(readHost({ host, hasMail: true }).host).toBe(host);
    // Incomplete settings of a provider are a mistake all the same.
    expect(() => readHost({ host, hasMail: true, oidcIssuer })).toThrow('OIDC_CLIENT_ID');
  });

  test('may be used without one for a demonstration', () => {
    expect(readHost({ host: '0.0.0.0', insecureSignIn: true }).host).toBe('0.0.0.0');
  });

  test('needs one as the public address, of which proxies need to know', () => {
    const publicUrl = 'https://reviews.example.org';
    expect(() => readHost({ publicUrl })).toThrow(
      /^PUBLIC_URL needs an identity provider, .*: set OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SEC/,
    );
    expect(() => readHost({ trustedProxies: '10.0.0.5' })).toThrow(
      'TRUSTED_PROXIES needs PUBLIC_URL, the address of the proxy: set PUBLIC_URL as well',
    );
  });
});

test.each(loopback)('an address of this machine needs no identity provider: %s', (host) => {
  expect(readHost({ host }).host).toBe(host);
});

describe('WEBHOOK_ALLOW', () => {
  const provider = { oidcIssuer, insecureSignIn: true };

  test.each(loopback)('includes this machine if only it reaches the service: %s', (host) => {
    expect(readHost({ host }).webhookAllow).toBe('127.0.0.0/8 ::1');
    const webhookAllow = '10.0.0.0/8';
    expect(readHost({ host, webhookAllow }).webhookAllow).toBe('127.0.0.0/8 ::1 10.0.0.0/8');
  });

  test.each(open)('is empty if other machines reach the service: %j', (host) => {
    expect(readHost({ host, ...provider }).webhookAllow).toBe('');
    const webhookAllow = '10.0.0.0/8, fd00::/8';
    expect(readHost({ host, webhookAllow, ...provider }).webhookAllow).toBe(webhookAllow);
  });

  test('is empty behind a proxy', () => {
    const publicUrl = 'https://reviews.example.org';
    expect(readHost({ publicUrl, ...provider }).webhookAllow).toBe('');
  });

  test('refuses what is no range', () => {
    expect(() => readHost({ webhookAllow: '10.0.0.0/8 intranet' })).toThrow(
      'WEBHOOK_ALLOW contains intranet: write IP addresses or ranges such as 10.0.0.5 or 10.0.0.0/8',
    );
  });
});
