import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { html } from 'hono/html';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { interactionPolicy } from 'oidc-provider';
import { site } from '../../../shared/base/site/site.ts';
import { readPairs } from '../../../shared/core/http/form.ts';
import { field } from '../../../shared/pages/form/fields.ts';
import { framed } from '../../../shared/pages/frame/frame.ts';
import { securityHeaders } from '../../../shared/pages/frame/html-response.ts';
import { style } from '../../../shared/pages/frame/style.ts';
import { readBody } from '../gateway/integration.ts';
import type { PendingSignIns } from '../storage/pending-sign-ins.ts';
import { carryInteractions } from './carried-interactions.ts';
import { mailboxesOf, rememberMailbox } from './known-browsers.ts';
import { addressField, type Step } from './mail-pages.ts';
import type { MailSignIn } from './mail-sign-in.ts';

const { base, Check } = interactionPolicy;
const path = '/identity-provider';
/** In seconds. */
const lifetimes = { AccessToken: 600, Grant: 600, IdToken: 600, Session: 600 };
/** In code points. */
const longestName = 64;
/** In bytes. */
const largestForm = 64 * 1024;
/** The library needs quadratic time for the parameters of a URL. */
const longestUrl = 4096;
const memoryAdapter = 'oidc-provider/lib/adapters/memory_adapter.js';

/** A sign-in by mail, with the file of those under way. */
export interface ByMail {
  steps: MailSignIn;
  pending: PendingSignIns;
}

/**
 * Creates an OpenID Connect provider. People prove an address `byMail`. Without it, or where it
 * takes names too, anyone signs in with any name. `host` is the URL it is mounted at, such as
 * `https://example.org/reviews`. Returns it with the environment variables that name it. Subjects
 * are names, or MACs of addresses, so accounts stay the same after a restart.
 */
export async function identityProvider(host: string, redirect_uri: string, byMail?: ByMail) {
  const issuer = new URL(host.replace(/\/$/, '') + path);
  const takesNames = byMail === undefined || byMail.steps.takesNames;
  const client_id = 'review-service';
  const client_secret = randomBytes(32).toString('base64url');
  // Set explicitly, because the library warns about its default. The library's types lack it.
  const { createMemoryAdapter } = await import(memoryAdapter);
  // Asks at every sign-in, so that a developer can change accounts.
  const policy = base();
  policy.remove('consent');
  const ask = new Check('ask_each_time', 'the name is asked for at each sign-in', ({ oidc }) =>
    oidc.result?.login ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT,
  );
  policy.get('login')?.checks.add(ask);
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const inMemory = createMemoryAdapter(0);
  const interactions = carryInteractions(byMail?.steps);
  const provider = new Provider(issuer.href, {
    // The rest lasts for seconds after a sign-in, so a restart may lose it.
    adapter: (model: string) => (model === 'Interaction' ? interactions.adapter : inMemory(model)),
    clients: [
      {
        client_id,
        client_secret,
        redirect_uris: [redirect_uri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: [byMail?.steps.cookieKey ?? randomBytes(32).toString('base64url')] },
    pkce: { required: () => true },
    async renderError(context, { error, error_description }) {
      context.type = 'html';
      context.body = `${await errorPage(error_description ?? error, takesNames)}`;
    },
    // No session outlives a sign-in, so there is no sign-out.
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: false } },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'musicdb_username'],
    },
    // With all claims in the ID token, a sign-in needs no request for UserInfo.
    conformIdTokenClaims: false,
    findAccount: (_, account) => {
      const proved = byMail && claimsByMail(byMail.pending, account);
      const claims = proved ?? (takesNames ? claimsByName(account) : undefined);
      return claims && { accountId: account, claims: () => claims };
    },
    interactions: { policy, url: (_, { uid }) => `${issuer.pathname}/sign-in/${uid}` },
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({
        clientId: oidc.client?.clientId,
        accountId: oidc.session?.accountId,
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    ttl: { ...lifetimes, AuthorizationCode: 60, Interaction: 3600 },
  });
  provider.proxy = true;
  const callback = provider.callback();

  async function signIn(request: IncomingMessage, response: ServerResponse, client: string) {
    const fields = request.method === 'POST' ? await readFields(request, response) : new Map();
    if (fields === undefined) return;
    if (isOfAnotherSite(request)) {
      response.statusCode = 403;
      response.end(
        `${await errorPage('Another site has sent this form. Nothing was done.', false)}`,
      );
      return;
    }
    if (fields.has('cancel')) {
      await provider.interactionFinished(request, response, { error: 'access_denied' });
      return;
    }
    const step = await stepOf(request, { client, fields });
    if ('account' in step) {
      const { mailbox } = step;
      if (mailbox) response.appendHeader('Set-Cookie', await rememberMailbox(request, mailbox));
      await provider.interactionFinished(request, response, { login: { accountId: step.account } });
      return;
    }
    response.statusCode = step.status;
    if (step.retryAfter) response.setHeader('Retry-After', step.retryAfter);
    response.end(`${await step.page}`);
  }

  async function stepOf(
    request: IncomingMessage,
    { client, fields }: { client: string; fields: ReadonlyMap<string, string> },
  ): Promise<Step> {
    const isPost = request.method === 'POST';
    if (isPost && takesNames && (!byMail || fields.has('name'))) return { account: nameIn(fields) };
    const [id = '', token] = (request.url ?? '').slice(`${path}/sign-in/`.length).split(/[/?]/);
    const isBegin = !token && !byMail?.pending.find(id);
    if (!byMail || (takesNames && !isPost && isBegin)) {
      return { status: 200, page: signInPage(byMail !== undefined) };
    }
    const browser = await interactions.browserOf(id);
    const url = `${issuer.href}/sign-in/${id}`;
    const known = await mailboxesOf(request);
    const agent = request.headers['user-agent'];
    const visit = { id, token: token || undefined, browser, known, url, client, agent };
    return isPost ? byMail.steps.submit(visit, fields) : byMail.steps.open(visit);
  }

  return {
    path,
    isDear: (url: string) => url.startsWith(`${path}/auth?`),
    environment: {
      OIDC_ISSUER: issuer.href,
      OIDC_CLIENT_ID: client_id,
      OIDC_CLIENT_SECRET: client_secret,
    },
    serve(request: IncomingMessage, response: ServerResponse, client = ''): void {
      // No `form-action`: the sign-in may redirect to an application, which Chromium would block.
      const policy = [
        `style-src ${style().source}`,
        `img-src data:${site().logo ? " 'self'" : ''}`,
      ];
      for (const [name, value] of Object.entries(securityHeaders(policy))) {
        response.setHeader(name, value);
      }
      if ((request.url ?? '').length > longestUrl) {
        response.writeHead(414, { 'Content-Type': 'text/plain' }).end('The URL is too long');
        return;
      }
      if (request.url?.startsWith(`${path}/sign-in/`)) {
        interactions.during(request, response, () =>
          signIn(request, response, client).catch((error) => {
            response.writeHead(400, { 'Content-Type': 'text/plain' }).end(`${error}`);
          }),
        );
        return;
      }
      // As connect and express do for a mounted application.
      const url = request.url?.slice(path.length) || '/';
      Object.assign(request, { originalUrl: issuer.pathname + url, url });
      // The library builds its addresses from these headers. Values of the client are replaced.
      Object.assign(request.headers, {
        'x-forwarded-proto': issuer.protocol.slice(0, -1),
        'x-forwarded-host': issuer.host,
      });
      interactions.during(request, response, () => callback(request, response));
    },
  };
}

/** Returns true for a form that another origin has sent. SameSite cookies are the other check. */
function isOfAnotherSite({ method, headers }: IncomingMessage): boolean {
  const from = headers['sec-fetch-site'];
  return method === 'POST' && from !== undefined && from !== 'same-origin';
}

/** Returns nothing if the proof has expired, so that the sign-in begins again. */
function claimsByMail(pending: PendingSignIns, sub: string) {
  const email = pending.addressOf(sub);
  return email === undefined ? undefined : { sub, email, email_verified: true };
}

function claimsByName(name: string) {
  return { sub: name, name, email: `${mailbox(name)}@example.com`, musicdb_username: name };
}

/** Returns the name that somebody typed, which is the account. */
function nameIn(fields: ReadonlyMap<string, string>) {
  const entry = fields.get('name') ?? '';
  return [...entry.trim()].slice(0, longestName).join('').trim() || 'Reader';
}

/** Returns the name in ASCII: émile becomes emile. */
function mailbox(name: string) {
  const letters = name.normalize('NFKD').replaceAll(/\p{M}/gu, '');
  return letters.replaceAll(/[^A-Za-z0-9]+/g, '.').replaceAll(/^\.|\.$/g, '') || 'reader';
}

/** Returns the fields of a form. Answers 413 and returns undefined if it is too large. */
async function readFields(request: IncomingMessage, response: ServerResponse) {
  const form = await readBody(request, largestForm);
  if (form !== undefined) return new Map(readPairs(`${form}`));
  request.resume();
  response.writeHead(413, { 'Content-Type': 'text/plain', Connection: 'close' });
  response.end('The form is too large');
  return undefined;
}

function errorPage(description: string, takesNames: boolean) {
  const content = html`<section><p>${description}</p></section>`;
  const title = takesNames ? 'The development sign-in failed' : 'The sign-in failed';
  return framed({ title, content, isLast: true });
}

function signInPage(hasMail: boolean) {
  const content = html`<section>
    <p>This provider is for development and demonstrations. Any name works. The same name is always the same person.</p>
    <form method="post">
      ${field({ name: 'name', label: 'Name', maxlength: longestName, hasFocus: true })}
      <div class="buttons">
        <button>Sign in</button>
        <button class="quiet" name="cancel" value="yes">Cancel</button>
      </div>
    </form>
  </section>
  ${
    hasMail &&
    html`<section>
    <h2>Sign in by mail</h2>
    <p>As people do where the service has a mail server. Here, the next page shows the mail.</p>
    <form method="post">
      ${addressField()}
      <div class="buttons"><button>Send the mail</button></div>
    </form>
  </section>`
  }`;
  return framed({ title: 'Development sign-in', content, isLast: true });
}
