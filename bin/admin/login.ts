import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { InvalidArgumentError, Option } from 'commander';
import * as oauth from 'oauth4webapi';
import { authUrl } from '../../shared/auth-url.ts';
import { ClientId, Registration } from '../../shared/oauth/application.ts';
import { clientSecret } from '../../shared/oauth/credentials.ts';
import type { Scope } from '../../shared/routes.ts';
import { isLoopback } from '../../shared/values.ts';
import { getApplication } from './application.ts';
import { type AdminCommand, as } from './command.ts';
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

/** An application that requests access, and the issuer, {auth_url} of the service. */
type Client = Awaited<ReturnType<typeof clientOf>>;

export function addLoginCommand(admin: AdminCommand): void {
  admin
    .command('login')
    .summary('gets tokens as an application does')
    .description(
      'gets tokens as an application does: listens at its redirect URI, prints the page to open in a browser, waits for the answer, then prints the tokens',
    )
    .required('--client <client id>', 'the application', ClientId)
    .addOption(
      new Option(
        '--secret <secret>',
        'its client secret (default: read from the stack; with --url, from the environment)',
      ).env('CLIENT_SECRET'),
    )
    .addOption(scopeOption)
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
    .option(
      '--env',
      'prints shell commands for eval that set CLIENT, CLIENT_SECRET and REFRESH_TOKEN',
    )
    .action(async ({ scope = [], env, ...options }: Options, command: AdminCommand) => {
      const client = await clientOf(command, options);
      const { writeOut, writeErr } = command.configureOutput();
      const tokens = await login(client, scope, (text) => writeErr?.(text));
      if (env) writeOut?.(exports(client, tokens.refresh_token));
      else await command.print(tokens);
    });
}

/** Returns commands for a POSIX shell. Values of another service are quoted. */
function exports({ client_id, secret }: Client, refresh_token = '') {
  const variables = { CLIENT: client_id, CLIENT_SECRET: secret, REFRESH_TOKEN: refresh_token };
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`)
    .join('');
}

async function clientOf(command: AdminCommand, options: Options) {
  const { client: client_id, secret, url, redirectUri } = options;
  if (url !== undefined) {
    if (!secret) command.error("error: option '--url <base url>' needs '--secret <secret>'");
    const redirect_uri = redirectUri ?? 'http://localhost:8080/callback';
    const issuer = new URL('..', `${url}/`).href.replace(/\/$/, '');
    return { client_id, secret, redirect_uri, issuer };
  }
  await command.connect();
  const { secret_id, redirect_uri } = await getApplication(client_id);
  // The variable may still hold the secret of another application.
  const isGiven = command.getOptionValueSource('secret') === 'cli';
  return {
    client_id,
    secret: (isGiven && secret) || (await clientSecret(client_id, secret_id)),
    redirect_uri: redirectUri ?? redirect_uri,
    issuer: authUrl(),
  };
}

/** Runs the authorization code flow with PKCE (RFC 7636) at a loopback redirect URI (RFC 8252). */
async function login(client: Client, scope: readonly Scope[], tell: (text: string) => void) {
  const { client_id, redirect_uri } = client;
  const redirect = new URL(redirect_uri);
  if (redirect.protocol !== 'http:' || !isLoopback(redirect)) {
    throw new Error(
      `the redirect URI ${redirect_uri} is not on this machine: use an application with a redirect URI such as http://localhost:8080/callback`,
    );
  }
  const server = await discover(client.issuer);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const page = new URL(server.authorization_endpoint ?? '');
  const parameters = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  if (scope.length > 0) parameters.set('scope', scope.join(' '));
  page.search = `${parameters}`;
  const listener = await listen(redirect);
  try {
    tell(`Open this page in a browser and answer there:\n${page}\n`);
    const [answer, response] = await answerAt(listener, redirect, state);
    try {
      const code = oauth.validateAuthResponse(server, client, answer, state);
      const tokens = await redeem(client, server, code, verifier);
      await respond(response, 200, 'Done. The tokens are in the terminal. Close this window.');
      return tokens;
    } catch (error) {
      await respond(response, 400, 'Failed. The terminal shows the reason.');
      throw refusalOf(error);
    }
  } finally {
    listener.close();
    listener.closeAllConnections();
  }
}

function answerAt(listener: Server, redirect: URL, state: string) {
  return new Promise<[URL, ServerResponse]>((resolve, reject) => {
    const expiry = new Error('there was no answer in the browser for half an hour');
    setTimeout(reject, patience, expiry).unref();
    listener.on('request', (request, response) => {
      const url = URL.parse(`${redirect.origin}${request.url}`);
      const isBack = url?.pathname === redirect.pathname && url.searchParams.get('state') === state;
      if (isBack) {
        resolve([url, response]);
        return;
      }
      // Browsers also request an icon, and other clients may connect.
      respond(response, 404, 'This address only receives the redirect from the consent page.');
    });
  });
}

/** Reads the metadata of RFC 8414, at the same path as on AWS. */
async function discover(issuer: string) {
  const address = `${issuer}/.well-known/oauth-authorization-server`;
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(10_000) });
    return await oauth.processDiscoveryResponse(new URL(issuer), response);
  } catch (error) {
    const { message, cause } = error as { message: string; cause?: NodeJS.ErrnoException };
    throw new Error(
      `cannot read the OAuth metadata at ${address} (${cause?.code ?? message}): check that the service runs and that its base URL is correct`,
      { cause: error },
    );
  }
}

async function redeem(
  client: Client,
  server: oauth.AuthorizationServer,
  code: URLSearchParams,
  verifier: string,
) {
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.ClientSecretPost(client.secret),
    code,
    client.redirect_uri,
    verifier,
    {
      [oauth.allowInsecureRequests]: isLoopback(new URL(client.issuer)),
      signal: AbortSignal.timeout(30_000),
    },
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response);
  // The library returns the type in lower case.
  return { ...tokens, token_type: 'Bearer' };
}

/** Names an OAuth error by its code and description. Another error stays as it is. */
function refusalOf(error: unknown) {
  const isRefusal =
    error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError;
  if (!isRefusal) return error;
  const { error: code, error_description } = error;
  return new Error([code, error_description].filter(Boolean).join(': '), { cause: error });
}

async function listen({ port, hostname, href }: URL) {
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
  if (!isSafe) {
    throw new InvalidArgumentError('It must be an https URL, or an http URL on this machine.');
  }
  return url.href.replace(/\/+$/, '');
}
