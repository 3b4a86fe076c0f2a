import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type Command, InvalidArgumentError, Option } from 'commander';
import * as oauth from 'oauth4webapi';
import { authUrl } from '../../shared/auth-url.ts';
import { ClientId, Registration } from '../../shared/oauth/application.ts';
import { clientSecret } from '../../shared/oauth/credentials.ts';
import type { Scope } from '../../shared/routes.ts';
import { isLoopback } from '../../shared/values.ts';
import { getApplication } from './application.ts';
import { as, connectTo, Required, show } from './command.ts';
import { scopeOption } from './token.ts';

/** In milliseconds. The service accepts no answer after this time. */
const patience = 30 * 60_000;

interface Options {
  client: string;
  secret?: string;
  scope?: Scope[];
  url?: string;
  redirectUri?: string;
  env?: boolean;
}

/** An application that requests access, and the service that grants it. */
interface Client {
  id: string;
  secret: string;
  redirect_uri: string;
  scope: string;
  /** {auth_url}, the issuer. */
  issuer: string;
}

export function addLoginCommand(admin: Command): void {
  admin
    .command('login')
    .summary('gets tokens as an application does')
    .description(
      'gets tokens as an application does: listens at its redirect URI, prints the page to open in a browser, waits for the answer, then prints the tokens',
    )
    .addOption(new Required('--client <client id>', 'the application', as(ClientId)))
    .addOption(
      new Option(
        '--secret <secret>',
        'its client secret (default: read from the stack; with --url, from the environment)',
      ).env('CLIENT_SECRET'),
    )
    .addOption(scopeOption())
    .option(
      '--url <base url>',
      'a service elsewhere, such as https://reviews.example.org/ws/1; needs --secret',
      baseUrl,
    )
    .option(
      '--redirect-uri <url>',
      'its redirect URI, on this machine (default: read from the stack; with --url http://localhost:8080/callback)',
      as(Registration.entries.redirect_uri),
    )
    .addOption(
      new Option(
        '--env',
        'prints shell commands for eval that set CLIENT, CLIENT_SECRET and REFRESH_TOKEN',
      ).conflicts(['only', 'table']),
    )
    .action(async function (this: Command, options: Options) {
      const client = await clientOf(this, options);
      const { writeOut, writeErr } = this.configureOutput();
      const tokens = await login(client, (text) => writeErr?.(text));
      if (options.env) writeOut?.(exports(client, tokens));
      else await show(this, tokens);
    });
}

/**
 * Returns commands for a POSIX shell. Values are quoted, because another service may have made
 * them.
 */
function exports({ id, secret }: Client, { refresh_token = '' }: { refresh_token?: string }) {
  const variables = { CLIENT: id, CLIENT_SECRET: secret, REFRESH_TOKEN: refresh_token };
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`)
    .join('');
}

async function clientOf(command: Command, options: Options): Promise<Client> {
  const { client: id, secret, url, redirectUri, scope = [] } = options;
  const asked = { id, scope: scope.join(' ') };
  if (url !== undefined) {
    if (!secret) command.error("error: option '--url <base url>' needs '--secret <secret>'");
    const redirect_uri = redirectUri ?? 'http://localhost:8080/callback';
    const issuer = new URL('..', `${url}/`).href.replace(/\/$/, '');
    return { ...asked, secret, redirect_uri, issuer };
  }
  await connectTo(command);
  const { secret_id, redirect_uri } = await getApplication(id);
  // The variable may still hold the secret of another application.
  const isGiven = command.getOptionValueSource('secret') === 'cli';
  return {
    ...asked,
    secret: (isGiven && secret) || (await clientSecret(id, secret_id)),
    redirect_uri: redirectUri ?? redirect_uri,
    issuer: authUrl(),
  };
}

/**
 * Runs the authorization code flow with PKCE (RFC 6749 section 4.1, RFC 7636) at a loopback
 * redirect URI (RFC 8252 section 7.3).
 */
async function login(client: Client, tell: (text: string) => void) {
  const redirect = new URL(client.redirect_uri);
  if (redirect.protocol !== 'http:' || !isLoopback(redirect)) {
    throw new Error(
      `the redirect URI ${client.redirect_uri} is not on this machine: use an application with a redirect URI such as http://localhost:8080/callback`,
    );
  }
  const server = await discover(client.issuer);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const page = new URL(server.authorization_endpoint ?? '');
  page.search = `${new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: client.redirect_uri,
    ...(client.scope && { scope: client.scope }),
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })}`;
  const listener = await listen(redirect);
  try {
    tell(`Open this page in a browser and answer there:\n${page}\n`);
    const [answer, response] = await answerAt(listener, redirect, state);
    try {
      const tokens = await redeem(client, server, answer, state, verifier);
      await respond(response, 200, 'Done. The tokens are in the terminal. Close this window.');
      return tokens;
    } catch (error) {
      await respond(response, 400, 'Failed. The terminal shows the reason.');
      throw error;
    }
  } finally {
    listener.close();
    listener.closeAllConnections();
  }
}

/** Waits for the redirect from the consent page. */
function answerAt(listener: Server, redirect: URL, state: string) {
  return new Promise<[URL, ServerResponse]>((resolve, reject) => {
    setTimeout(
      reject,
      patience,
      new Error('there was no answer in the browser for half an hour'),
    ).unref();
    listener.on('request', (request, response) => {
      const url = URL.parse(`${redirect.origin}${request.url}`);
      const isBack = url?.pathname === redirect.pathname && url.searchParams.get('state') === state;
      if (isBack) resolve([url, response]);
      // Browsers also request an icon, and other clients may connect.
      else respond(response, 404, 'This address only receives the redirect from the consent page.');
    });
  });
}

/** Reads the metadata of RFC 8414, at the same path as on AWS. */
async function discover(issuer: string): Promise<oauth.AuthorizationServer> {
  const address = `${issuer}/.well-known/oauth-authorization-server`;
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(10_000) });
    return await oauth.processDiscoveryResponse(new URL(issuer), response);
  } catch (error) {
    const { message, cause } = error as { message: string; cause?: NodeJS.ErrnoException };
    const reason = cause?.code ?? message;
    throw new Error(
      `cannot read the OAuth metadata at ${address} (${reason}): check that the service runs and that its base URL is correct`,
      { cause: error },
    );
  }
}

async function redeem(
  client: Client,
  server: oauth.AuthorizationServer,
  answered: URL,
  state: string,
  verifier: string,
) {
  const { id: client_id, secret, redirect_uri } = client;
  try {
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      { client_id },
      oauth.ClientSecretPost(secret),
      oauth.validateAuthResponse(server, { client_id }, answered, state),
      redirect_uri,
      verifier,
      {
        [oauth.allowInsecureRequests]: isLoopback(new URL(client.issuer)),
        signal: AbortSignal.timeout(30_000),
      },
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, { client_id }, response);
    // The library returns the type in lower case.
    return { ...tokens, token_type: 'Bearer' };
  } catch (error) {
    const isRefusal =
      error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError;
    if (!isRefusal) throw error;
    const { error_description = '' } = error;
    throw new Error([error.error, error_description].filter(Boolean).join(': '), { cause: error });
  }
}

async function listen({ port, hostname, href }: URL): Promise<Server> {
  const listener = createServer();
  try {
    listener.listen(Number(port || 80), hostname.replace(/^\[(.*)\]$/, '$1'));
    await once(listener, 'listening');
    return listener;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'the port is in use' : message;
    throw new Error(`cannot listen at the redirect URI ${href}: ${reason}`, { cause: error });
  }
}

async function respond(response: ServerResponse, status: number, text: string): Promise<void> {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
  response.end(`${text}\n`);
  // Pipelined requests on the connection are closed together with the first.
  if (!response.closed) await once(response, 'close');
}

function baseUrl(text: string): string {
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url));
  if (!isSafe)
    throw new InvalidArgumentError('It must be an https URL, or an http URL on this machine.');
  return url.href.replace(/\/+$/, '');
}
