import { inspect } from 'node:util';
import { Command, InvalidArgumentError } from 'commander';
import { runningStack } from '../infra/local/connect.ts';
import { type Route, routes, version } from '../shared/routes.ts';

const command = new Command('npm run smoke --')
  .description(
    'Checks a running service from outside. It changes nothing, unless --write is given.',
  )
  .argument(
    '[url]',
    'the base URL, such as https://reviews.example.org/ws/1 (default: the stack that runs on this machine)',
    url,
  )
  .option('--token <access token>', 'also checks that the service accepts this token')
  .option(
    '--write',
    'also publishes, edits and deletes a review, and votes, with a token for review and vote',
  )
  .option(
    '--data-dir <folder>',
    'the data folder of the stack on this machine',
    process.env.DATA_DIR || '.data',
  )
  .parse();

const { token, write, dataDir } = command.opts<{
  token?: string;
  write?: true;
  dataDir: string;
}>();
if (write && token === undefined) command.error('Error: --write needs a --token');
const base: string = command.processedArgs[0] ?? localUrl();
const auth = base.replace(/\/[^/]*$/, '');
const nobody = '00000000-0000-4000-8000-000000000000';
/** In milliseconds. */
const patience = 15_000;

function url(value: string): string {
  if (!/^https?:$/.test(URL.parse(value)?.protocol ?? '')) {
    throw new InvalidArgumentError('It must be a URL such as https://reviews.example.org/ws/1.');
  }
  return value.replace(/\/+$/, '');
}

function localUrl(): string {
  try {
    const { url } = runningStack(dataDir);
    if (url !== null) return url;
    return command.error(
      `Error: the stack on ${dataDir} is still starting: try again in a few seconds`,
    );
  } catch (error) {
    return command.error(`Error: ${(error as Error).message}, or give the base URL of a service`);
  }
}

const checks: Record<string, () => Promise<void>> = {
  async 'a public endpoint answers JSON that any origin may read'() {
    const answer = await ask(`${base}/review/languages`, 200);
    want('languages', `${answer.body.languages}`, /\ben\b/);
    wantHeader(answer, 'X-Content-Type-Options', 'nosniff');
  },
  async 'lists can be read in each order, whole or filtered by type, language, entity or author'() {
    const filters = [
      '',
      'entity_type=work&language=en',
      `entity_id=${nobody}`,
      `user_id=${nobody}`,
      'entity_type=bookdb&review_type=review',
    ];
    for (const filter of filters) {
      await readList(`/review?sort=published_on&${filter}`, 'reviews');
      await readList(`/review?sort=popularity&${filter}`, 'reviews');
    }
    await readList('/user?', 'users');
  },
  async 'each public address answers without a failure'() {
    const isOpen = ({ method, access }: Route) => method === 'GET' && access === 'public';
    for (const route of routes.filter(isOpen)) {
      const { status } = await request(auth + addressOf(route), { redirect: 'manual' });
      // A 503 of /health says what is wrong with the service, which its operator knows.
      const fine = route.operation === 'get-health' ? /^(200|503)$/ : /^[234]/;
      want(`status of ${route.operation}`, status, fine);
    }
  },
  async 'a trailing slash makes no difference'() {
    for (const path of ['/review/?limit=0', '/user/?limit=0', '/review/languages/']) {
      await ask(base + path, 200);
    }
    await refused(`${base}/review/${nobody}/`, 404, 'not_found');
  },
  async 'an unknown review is 404'() {
    await refused(`${base}/review/${nobody}`, 404, 'not_found');
  },
  async 'an unknown path is 404, with a token or without'() {
    await refused(`${base}/nothing/here`, 404, 'not_found');
    await refused(`${auth}/nothing`, 404, 'not_found');
    const headers = { Authorization: 'Bearer rva_nonsense' };
    await refused(`${base}/nothing/here`, 404, 'not_found', { headers });
  },
  async 'an unsupported method is 405'() {
    await refused(`${base}/review`, 405, 'method_not_allowed', { method: 'PUT' });
  },
  async 'a protected endpoint requires a valid token'() {
    const url = `${base}/review/${nobody}/vote`;
    for (const value of [undefined, 'Bearer rva_nonsense', 'Bearer ', 'Basic YTpi']) {
      const headers = value === undefined ? undefined : { Authorization: value };
      const answer = await refused(url, 401, 'invalid_token', { method: 'PUT', headers });
      wantHeader(answer, 'WWW-Authenticate', /^Bearer /);
    }
  },
  async 'a CORS preflight is answered, also on protected paths'() {
    const headers = { Origin: 'https://example.org', 'Access-Control-Request-Method': 'PUT' };
    const init = { method: 'OPTIONS', headers };
    const response = await request(`${base}/review/${nobody}/vote`, init);
    want('status', response.status, 204);
    wantHeader(response, 'Access-Control-Allow-Origin', '*');
    wantHeader(response, 'Access-Control-Allow-Headers', /authorization/i);
    wantHeader(response, 'Access-Control-Allow-Methods', /PUT/);
  },
  async 'invalid parameters are 400'() {
    await refused(`${base}/review?limit=51`, 400, 'invalid_request');
    await refused(`${base}/reviews?review_ids=x`, 400, 'invalid_request');
  },
  async 'a query that is too long is 503'() {
    const url = `${base}/reviews?review_ids=${`${nobody},`.repeat(120)}`;
    await refused(url, 503, 'service_unavailable');
  },
  async 'the OAuth metadata names this address'() {
    const { body } = await ask(`${auth}/.well-known/oauth-authorization-server`, 200);
    want('issuer', body.issuer, auth);
    want('token_endpoint', body.token_endpoint, `${base}/oauth/token`);
  },
  async 'the token endpoint returns errors of RFC 6749'() {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const init = { method: 'POST', headers, body: 'grant_type=refresh_token' };
    const answer = await ask(`${base}/oauth/token`, /^40[01]$/, init);
    want('error', answer.body.error, /^invalid_(request|client)$/);
    want('type of error_description', typeof answer.body.error_description, 'string');
    wantHeader(answer, 'Cache-Control', 'no-store');
  },
  async 'an authorization request without an application is a page, not a redirect'() {
    const response = await request(`${auth}/oauth/authorize`, { redirect: 'manual' });
    want('status', response.status, 400);
    wantHeader(response, 'Content-Type', /^text\/html/);
  },
  async 'sign-in redirects to the identity provider'() {
    const response = await request(`${auth}/account/sign-in`, { redirect: 'manual' });
    want('status', response.status, /^30[23]$/);
    const provider = new URL(response.headers.get('location') ?? '');
    want('redirect_uri', provider.searchParams.get('redirect_uri'), `${auth}/account/callback`);
    want('code_challenge_method', provider.searchParams.get('code_challenge_method'), 'S256');
    want('status', (await request(provider)).status, 200);
  },
  ...(base.startsWith('https:') && {
    async 'plain HTTP is refused'() {
      const url = `${auth.replace('https:', 'http:')}/oauth/authorize`;
      const signal = AbortSignal.timeout(5_000);
      const answer = await fetch(url, { redirect: 'manual', signal }).catch(() => undefined);
      want('status', answer?.status ?? 'none', /^([345]..|none)$/);
    },
  }),
  ...(token !== undefined && {
    async 'the token is accepted'() {
      const headers = { Authorization: `Bearer ${token}` };
      const { body } = await ask(`${base}/user/me`, 200, { headers });
      want('type of user.id', typeof (body.user as { id?: unknown } | undefined)?.id, 'string');
    },
  }),
  ...(write && {
    async 'a review is published, edited and deleted'() {
      const entity_id = crypto.randomUUID();
      const text = 'This review checks that the service can write. It is deleted at once.';
      const draft = {
        entity_id,
        entity_type: 'work',
        text,
        license_choice: 'CC0 1.0',
        is_draft: true,
      };
      const { body } = await send('POST', '/review', draft);
      const review = `/review/${body.id}`;
      left.add(`the draft or review ${body.id}`);
      await send('POST', review, { rating: 4 });
      await send('POST', review, { is_draft: false });
      const { body: shown } = await ask(base + review, 200);
      want('rating', (shown.review as { rating?: unknown }).rating, 4);
      // Nobody votes on or reports an own review. The request gets as far as the table.
      await refused(`${base}${review}/vote`, 400, 'invalid_request', sent('PUT', { vote: true }));
      await refused(`${base}${review}/report`, 400, 'invalid_request', sent('POST', {}));
      await send('DELETE', review);
      await refused(base + review, 404, 'not_found');
      left.delete(`the draft or review ${body.id}`);
      left.add('one publication and two edits of the daily limits of the account');
    },
    async 'a vote is cast and withdrawn'() {
      const { body } = await ask(`${base}/review?review_type=review&limit=50`, 200);
      const { body: me } = await ask(`${base}/user/me`, 200, sent('GET'));
      const { id } = me.user as { id: string };
      const reviews = body.reviews as { id: string; user: { id: string } }[];
      for (const review of reviews.filter(({ user }) => user.id !== id)) {
        const vote = `/review/${review.id}/vote`;
        const before = await request(base + vote, sent('GET'));
        if (before.status !== 404) continue;
        await send('PUT', vote, { vote: true });
        left.add(`a vote on the review ${review.id}`);
        await send('DELETE', vote);
        left.delete(`a vote on the review ${review.id}`);
        left.add('one vote of the daily limit of the account');
        return;
      }
      left.add('no vote, because there is no review by others to vote on');
    },
  }),
};

/** Changes that stay. */
const left = new Set<string>();

/** Returns the address of a route after the stage, of things that do not exist. */
function addressOf({ base: start = version, path }: Pick<Route, 'base' | 'path'>): string {
  const parameters: Record<string, string> = { guide: 'publishing', rev: '1' };
  return start + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? nobody);
}

/** Returns a request with the token. */
function sent(method: string, body?: object): RequestInit {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return { method, headers, body: body && JSON.stringify(body) };
}

/** Sends a change, which must succeed. */
const send = (method: string, path: string, body?: object) =>
  ask(base + path, 200, sent(method, body));

/** The last request, printed with a failure so that it can be repeated. */
let lastRequest = '';

async function request(url: string | URL, init: RequestInit = {}) {
  lastRequest = `${init.method ?? 'GET'} ${url}`;
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(patience) });
  } catch (error) {
    const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
    const silence = name === 'TimeoutError' && `no answer in ${patience / 1000} seconds`;
    throw new Unreachable(silence || cause?.message || cause?.code || message);
  }
}

class Unreachable extends Error {}

/** Every response of the API, also one of API Gateway itself, is JSON that any origin may read. */
async function ask(url: string, status: number | RegExp, init?: RequestInit) {
  const response = await request(url, init);
  wantHeader(response, 'Content-Type', /^application\/json/);
  wantHeader(response, 'Access-Control-Allow-Origin', '*');
  const body = (await response.json()) as Record<string, unknown>;
  want('status', response.status, status);
  return { headers: response.headers, body };
}

async function readList(path: string, items: string): Promise<void> {
  const { body } = await ask(`${base}${path}&limit=1`, 200);
  want('limit', body.limit, 1);
  want(`${items} to be a list:`, Array.isArray(body[items]), true);
  want('type of count', typeof body.count, 'number');
}

async function refused(url: string, status: number, error: string, init?: RequestInit) {
  const answer = await ask(url, status, init);
  want('error', answer.body.error, error);
  want('description', answer.body.description, /./);
  return answer;
}

function wantHeader({ headers }: { headers: Headers }, name: string, wanted: unknown): void {
  want(name, headers.get(name), wanted);
}

function want(what: string, got: unknown, wanted: unknown): void {
  if (wanted instanceof RegExp ? wanted.test(`${got ?? ''}`) : got === wanted) return;
  const shown = (value: unknown) => inspect(value, { breakLength: Number.POSITIVE_INFINITY });
  throw new Error(`expected ${what} ${shown(wanted)}, got ${shown(got).slice(0, 200)}`);
}

console.log(`Checking ${base}`);
let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok      ${name}`);
  } catch (error) {
    const { message } = error as Error;
    console.log(`FAILED  ${name}\n        ${lastRequest.slice(0, 200)}: ${message}`);
    if (error instanceof Unreachable) {
      stop('the service cannot be reached, so the other checks were skipped');
    }
    if (failed++ === 0 && name === Object.keys(checks)[0]) {
      stop(`${base} is not the base URL of a review service`);
    }
  }
}
for (const change of left) console.log(`left    ${change}`);
console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function stop(why: string): never {
  console.log(`Stopped: ${why}`);
  process.exit(1);
}
