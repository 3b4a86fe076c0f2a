import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { runAdmin } from '../../bin/admin/program.ts';
import { type Browser, openBrowser } from '../helpers/browser.ts';
import { type Client, makeClient } from '../helpers/oauth-client.ts';
import { startTestStack } from '../helpers/stack.ts';
import { freePort } from '../helpers/terminal.ts';

const { url, authUrl: issuer, dataDir } = await startTestStack();

let browser: Browser;
let client: Client;

beforeAll(async () => {
  browser = openBrowser(issuer);
  await browser.signIn('Ann');
  const { users } = JSON.parse((await start('user', 'list').over).stdout);
  // A URL parser would write it otherwise, and the service wants it exactly as it is registered.
  client = await makeClient(users[0], `http://127.0.0.1:${await freePort()}/call/./back?a=b`);
});

/** The tool at work: the page that it wants to be opened, and what it says in the end. */
function start(...args: string[]) {
  const said = { stdout: '', stderr: '' };
  const page = Promise.withResolvers<string>();
  const over = runAdmin([...args, '--data-dir', dataDir], {
    writeOut: (text) => {
      said.stdout += text;
    },
    writeErr: (text) => {
      said.stderr += text;
      const [address] = /http.*(?=\n$)/.exec(text) ?? [];
      if (address) page.resolve(address);
    },
  }).then((code) => ({ code, ...said }));
  return { page: page.promise, over };
}

/** Answers the consent page, and returns the address that the browser opens next. */
async function answer(page: string, decision: 'approve' | 'refuse'): Promise<string> {
  const consent = await browser.visit(page);
  return (await browser.submit(consent, 'Allow', { decision })).url;
}

async function load(address: string): Promise<{ status: number; text: string }> {
  const response = await fetch(address);
  return { status: response.status, text: await response.text() };
}

const signedIn = {
  access_token: expect.stringMatching(/^rva_/),
  token_type: 'Bearer',
  expires_in: 3600,
  refresh_token: expect.stringMatching(/^rvr_/),
};

test('user create makes the account that the name signs in to', async () => {
  const name = `Zoë ${randomUUID()}`;
  const create = async () =>
    JSON.parse((await start('user', 'create', '--name', ` ${name} `).over).stdout);
  const { id } = await create();
  await openBrowser(issuer).signIn(name);
  expect((await create()).id).toBe(id);
  const { users } = JSON.parse((await start('user', 'list', '--find', name).over).stdout);
  expect(users.map((user: { id: string }) => user.id)).toEqual([id]);
});

describe('npm run admin -- login', () => {
  test('gets tokens from the stack that runs here', async () => {
    const { page, over } = start('login', '--client', client.client_id, '--scope', 'vote,user');
    const address = await page;
    expect(Object.fromEntries(new URL(address).searchParams)).toEqual({
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: client.redirect_uri,
      scope: 'vote user',
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    const back = await answer(address, 'approve');
    expect(back).toContain(`${new URL(client.redirect_uri)}&code=rvc_`);
    // An icon, somebody else's answer, and no address at all.
    const { origin } = new URL(back);
    const forged = `${client.redirect_uri}&code=x&state=y`;
    for (const other of [`${origin}/favicon.ico`, forged, `${origin}//`]) {
      expect((await load(other)).status).toBe(404);
    }
    expect(await load(back)).toEqual({ status: 200, text: expect.stringContaining('Done') });

    const { code, stdout, stderr } = await over;
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(address) });
    const tokens = JSON.parse(stdout);
    expect(tokens).toEqual(signedIn);
    const headers = { Authorization: `Bearer ${tokens.access_token}` };
    const me = await (await fetch(`${url}/user/me`, { headers })).json();
    expect(me).toMatchObject({ user: { display_name: 'Ann' } });
    // Its port is free again.
    await expect(load(back)).rejects.toThrow('fetch failed');
  });

  test('prints what a shell puts into its environment', async () => {
    const { client_id, client_secret } = client;
    const { page, over } = start('login', '--client', client_id, '--env');
    await load(await answer(await page, 'approve'));
    const { stdout } = await over;
    const variables = ['CLIENT', 'CLIENT_SECRET', 'REFRESH_TOKEN'];
    const print = `${process.execPath} -p 'JSON.stringify(process.env)'`;
    const { stdout: env } = spawnSync('sh', ['-c', `${stdout}\n${print}`], { encoding: 'utf8' });
    expect(variables.map((name) => JSON.parse(env)[name])).toEqual([
      client_id,
      client_secret,
      expect.stringMatching(/^rvr_/),
    ]);
  });

  test('gets tokens from a service of which it knows the address alone', async () => {
    const elsewhere = ['--url', `${url}/`, '--redirect-uri', client.redirect_uri];
    const { client_id, client_secret } = client;
    const login = start('login', '--client', client_id, '--secret', client_secret, ...elsewhere);
    await load(await answer(await login.page, 'approve'));
    expect(JSON.parse((await login.over).stdout)).toEqual(signedIn);
  });

  test('gets them although somebody else knocks, three times in one breath', async () => {
    const login = start('login', '--client', client.client_id);
    const page = await login.page;
    const { hostname, port, host } = new URL(client.redirect_uri);
    const other = connect(Number(port), hostname).resume();
    other.write(`GET /a HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(3));
    await once(other, 'close');
    const back = await answer(page, 'approve');
    expect(await load(back)).toEqual({ status: 200, text: expect.stringContaining('Done') });
    expect((await login.over).code).toBe(0);
  });

  test.each([
    ['approve', 'rvs_wrong', /^Error: invalid_client: .+$/m],
    ['refuse', undefined, /^Error: access_denied$/m],
  ] as const)('says why there are no tokens: %s, secret %s', async (decision, secret, said) => {
    const { client_id } = client;
    const login = start('login', '--client', client_id, ...(secret ? ['--secret', secret] : []));
    const text = expect.stringContaining('The terminal shows the reason');
    expect(await load(await answer(await login.page, decision))).toEqual({ status: 400, text });
    expect(await login.over).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(said) });
  });

  test('says why it cannot begin', async () => {
    const { client_id, user_id } = client;
    const remote = await makeClient({ id: user_id });
    const port = Number(await freePort());
    const blocked = await makeClient({ id: user_id }, `http://127.0.0.1:${port}/callback`, 'Busy');
    const server = createServer().listen(port, '127.0.0.1');
    const other = ['--client', client_id, '--secret', 'x', '--url'];
    const plain = 'http://reviews.example/ws/1';
    const unreachable =
      /^Error: .+: check that the service runs and that its base URL is correct\n$/;
    try {
      for (const [args, code, said] of [
        [['--client', '0'.repeat(32)], 1, /^Error: Application not found\n$/],
        [['--client', remote.client_id], 1, /^Error: .+ is not on this machine: .+\n$/],
        [['--client', blocked.client_id], 1, /^Error: cannot listen at .+ the port is in use\n$/],
        [[...other, `http://127.0.0.1:${port + 1}/ws/1`], 1, /^Error: .+ECONNREFUSED.+\n$/],
        [[...other, new URL(url).origin], 1, unreachable],
        [[...other, plain], 2, /^error: option '--url .+ must be an https .+\n$/],
        [
          ['--client', client_id, '--url', url],
          2,
          /^error: option '--url .+ needs '--secret .+\n$/,
        ],
      ] as const) {
        const end = await start('login', ...args).over;
        const stderr = expect.stringMatching(said);
        expect({ args, ...end }).toEqual({ args, code, stdout: '', stderr });
      }
    } finally {
      server.close();
    }
  });
});
