import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { interactionPolicy } from 'oidc-provider';
import { headingOf, openBrowser, userIdOn } from './browser.ts';
import { serve } from './listen.ts';
import { startTestStack } from './stack.ts';

type StackOptions = Parameters<typeof startTestStack>[0];

/** Credentials of the service at the provider. */
const client = { client_id: 'reviews', client_secret: 'a secret of some length' };

/**
 * Starts a local stack with an ordinary identity provider. It keeps its own session, supports
 * OpenID Connect RP-Initiated Logout 1.0, and knows people by address, not by name. It gives the
 * address by UserInfo only, which is the library's default. It has verified each address that is
 * given without another word. `publish` returns its public address.
 */
export async function startStackWithProvider(
  options: StackOptions = {},
  publish = async (local: string) => local,
) {
  // Answers when it knows the address of the service.
  const { promise: answering, resolve } = Promise.withResolvers<RequestListener>();
  const provider = createServer(async (request, response) => (await answering)(request, response));
  const issuer = await publish(await serve(provider));
  Object.assign(process.env, {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: client.client_id,
    OIDC_CLIENT_SECRET: client.client_secret,
  });
  const { url, authUrl, local } = await startTestStack({ oidcIssuer: issuer, ...options });
  resolve(await listenerOf(issuer, authUrl));
  /** Signs in a person, in a browser of their own. */
  async function join(email: string) {
    const browser = openBrowser(authUrl, issuer);
    const asked = await browser.visit('account');
    expect(headingOf(asked)).toBe('Who are you?');
    const shown = await browser.submit(asked, 'Sign in', { email });
    const isNew = headingOf(shown) === 'Choose your public name';
    const name = { display_name: email.replace(/@.*/, '') };
    if (isNew) await browser.submit(shown, 'Save and continue', name);
    // Somebody new begins at the front page.
    const account = isNew ? await browser.visit('account') : shown;
    return { browser, account, id: userIdOn(account) };
  }
  return { issuer, url, authUrl, local, join };
}

async function listenerOf(issuer: string, authUrl: string): Promise<RequestListener> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const policy = interactionPolicy.base();
  policy.remove('consent');
  const provider = new Provider(issuer, {
    clients: [
      {
        ...client,
        redirect_uris: [`${authUrl}/account/callback`],
        post_logout_redirect_uris: [`${authUrl}/account/sign-out`],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['a key for cookies'] },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        logoutSource: (context, form) => {
          const button =
            '<button form="op.logoutForm" name="logout" value="yes">Yes, sign me out</button>';
          context.body = pageOf('Do you want to sign out?', form + button);
        },
      },
    },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    findAccount: (_, sub) => {
      const [email, unverified] = sub.split(' ');
      const claims = { sub, email, email_verified: unverified === undefined };
      return { accountId: sub, claims: () => claims };
    },
    interactions: { policy, url: (_, { uid }) => `/sign-in/${uid}` },
    async loadExistingGrant({ oidc }) {
      const clientId = oidc.client?.clientId;
      const grant = new provider.Grant({ clientId, accountId: oidc.session?.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  provider.proxy = true;
  const callback = provider.callback();
  return async (request, response) => {
    if (!request.url?.startsWith('/sign-in/')) return callback(request, response);
    if (request.method === 'POST') {
      const accountId = new URLSearchParams(await text(request)).get('email') ?? '';
      return provider.interactionFinished(request, response, { login: { accountId } });
    }
    const fields =
      '<label>Email <input name="email"></label> <label>Password <input type="password"></label>';
    response.setHeader('Content-Type', 'text/html');
    return response.end(
      pageOf('Who are you?', `<form method="post">${fields}<button>Sign in</button></form>`),
    );
  };
}

function pageOf(title: string, content: string): string {
  return `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${content}</html>`;
}
