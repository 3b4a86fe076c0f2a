import { createServer, type RequestListener } from 'node:http';
import { handler as deleteAccount } from '../../functions/pages/delete-account.ts';
import { handler as signOut } from '../../functions/pages/sign-out.ts';
import { eventOf } from '../../infra/local/gateway/endpoint-event.ts';
import { csrfToken, readSession, startSession } from '../../shared/pages/session/session.ts';
import { silence } from '../helpers/console.ts';
import { invoke } from '../helpers/invoke.ts';
import { serve } from '../helpers/listen.ts';
import { postForm } from '../helpers/oauth-client.ts';
import { makeUser } from '../helpers/world.ts';

let answer: RequestListener = () => {};
let asked = 0;
const provider = createServer((request, response) => {
  asked += 1;
  answer(request, response);
});

process.env.OIDC_ISSUER = `${await serve(provider)}/tenant/`;
process.env.OIDC_CLIENT_ID = 'reviews & more';

/** Sends the form of a signed-in user. Returns the answer and whether the session has ended. */
async function leave(handler: unknown, fields: Record<string, string> = {}) {
  const { id } = await makeUser();
  const cookie = (await startSession(id)).split(';')[0] ?? '';
  const session = await readSession(eventOf({ headers: { cookie } }));
  const csrf = session ? await csrfToken(session) : '';
  const shown = await postForm(handler, { csrf, ...fields }, { cookie });
  const again = await postForm(handler, { csrf, ...fields }, { cookie });
  return { ...shown, isOver: again.status === 401 };
}

const discovery = (content: object): RequestListener => {
  return (_, response) => response.end(JSON.stringify(content));
};

test.each([
  ['drops the connection', (request) => request.socket.destroy()],
  ['fails', (_, response) => response.writeHead(500).end('{}')],
  ['answers with a page', (_, response) => response.end('<!doctype html>')],
  ['names no address', discovery({ end_session_endpoint: 7 })],
  ['names a script', discovery({ end_session_endpoint: 'javascript:alert(1)' })],
])('a provider that %s does not prevent sign-out, and is asked again', async (_, how) => {
  answer = how;
  asked = 0;
  const warned = silence('warn');
  const { status, body, isOver } = await leave(signOut);
  expect(status).toBe(200);
  expect(isOver).toBe(true);
  expect(asked).toBe(1);
  expect(body).toContain('<h1>You are signed out</h1>');
  expect(body).toContain('Sign in again');
  expect(body).not.toContain('http-equiv');
  expect(warned).toHaveBeenCalledTimes(1);
});

test('waits for an unresponsive provider for three seconds at most', async () => {
  const waiting = new AbortController();
  const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(waiting.signal);
  silence('warn');
  answer = () => waiting.abort(new DOMException('over', 'TimeoutError'));
  const { status, body, isOver } = await leave(deleteAccount, { name: 'Ann' });
  expect(timeout).toHaveBeenCalledWith(3_000);
  // The redirect leads to the page that confirms the sign-out.
  expect(status).toBe(303);
  expect(isOver).toBe(true);
  expect(body).toBe('');
});

test('asks a provider for its sign-out address once', async () => {
  asked = 0;
  answer = (request, response) => {
    expect(request.url).toBe('/tenant/.well-known/openid-configuration');
    discovery({ end_session_endpoint: 'https://id.example/end?tenant=a' })(request, response);
  };
  for (let i = 0; i < 3; i++) {
    const { status, body, isOver } = await leave(signOut);
    expect(status).toBe(200);
    expect(isOver).toBe(true);
    expect(asked).toBe(1);
    const next =
      'https://id.example/end?tenant=a&amp;client_id=reviews+%26+more&amp;post_logout_redirect_uri=https%3A%2F%2Fapi.example%2Fws%2Faccount%2Fsign-out';
    expect(body).toContain(`<meta http-equiv="refresh" content="0; url=${next}">`);
    expect(body).toContain(`<a href="${next}">`);
  }
});

test('a sign-out without a form is refused as one without a CSRF token: 403', async () => {
  const { id } = await makeUser();
  const cookie = (await startSession(id)).split(';')[0] ?? '';
  for (const type of ['', 'text/plain']) {
    const headers = { cookie, 'Content-Type': type };
    expect(await invoke(signOut, { method: 'POST', headers })).toHaveStatus(403);
  }
});
