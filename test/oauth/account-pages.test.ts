import {
  clientIdOn,
  codeIn,
  expectFormAgain,
  redirect_uri,
  startAuthorization,
} from '../helpers/authorization.ts';
import {
  contentOf,
  csrfOn,
  faultsOn,
  noticeOn,
  openBrowser,
  textBetween,
} from '../helpers/browser.ts';
import { rowsOf } from '../helpers/rows.ts';

const { issuer, client, client_id, ann, stranger, come, authorizeUrl, expectErrorPage } =
  await startAuthorization();

const { makeClient, redeem } = await import('../helpers/oauth-client.ts');

test('the front page describes itself to search engines and link previews', async () => {
  const { html } = await openBrowser(issuer).visit('');
  for (const name of ['name="description"', 'property="og:description"']) {
    expect(html).toMatch(new RegExp(`<meta ${name} content="[^"]*reviews of albums[^"]*">`));
  }
  expect(html.indexOf('on your own website')).toBeLessThan(html.indexOf('curl'));
});

describe('the account pages', () => {
  const evil = `<script>alert("1")</script>&'`;

  test('escape what people write', async () => {
    const { browser, account } = await come(`Zoe ${evil}`);
    const redirect_uri = `https://client.example/?"><script>alert(3)</script>`;
    const registered = await browser.register({
      name: `App ${evil}`,
      desc: `</textarea>${evil}`,
      website: `https://client.example/?"><script>alert(2)</script>`,
      redirect_uri,
    });
    const consent = await browser.visit(
      authorizeUrl({ client_id: clientIdOn(registered), redirect_uri, state: evil }),
    );
    const back = await browser.allow(consent);
    expect(back.url).not.toContain('<script>alert("1")');
    const list = await browser.visit('account/applications');
    for (const { status, html } of [account, registered, consent, list]) {
      expect(status).toBe(200);
      expect(html).not.toMatch(/<script|"1"/);
      expect(html).toContain('&lt;script&gt;');
    }
    expect(registered.html).toContain('&lt;/textarea&gt;');
  });

  test.each(
    rowsOf({
      redirect_uri: [
        'javascript:alert(1)',
        'data:text/html,x',
        'http://client.example/',
        'https://client.example/#x',
        'https://client.example/#',
        'https://u:p@client.example/',
        'https:client.example/',
        'https:/client.example/',
        'https:///client.example/',
        'https:\\\\client.example/',
        'https://client.example\\@evil.example/',
        'com.example.app:/callback',
        'http://localhost.evil.example/',
        'http://127.0.0.2/',
        'https://client.example/ x',
        'https://client.example/\nx',
        'https://\nevil.example/cb',
        'https://\revil.example/cb',
        'https://\tevil.example/cb',
        'https://\nX-Injected:1/cb',
        'https://日.example/',
        'https://\u200bevil.example/',
        'https://"evil/',
        'https://@evil/',
        'https://*.example/',
        'https://client.example/é',
        'https://client.example@evil.example/',
        'https://',
        'https://client.example:x/',
        '/callback',
        '',
      ],
      website: [
        'javascript:alert(1)',
        'JaVaScRiPt:alert(1)',
        ' javascript:alert(1)',
        'data:text/html,x',
        'vbscript:x',
        'client.example',
        'https://accounts.google.com@evil.example/',
        'https://accounts.google.com:x@evil.example/',
        'https://\nevil.example/',
        'https://日.example/',
      ],
      name: ['', ' ', 'x'.repeat(65), 'a\u0000b'],
      desc: ['x'.repeat(501)],
    }),
  )('register no application with the %s %j', async (field, value) => {
    const form = await ann.visit('account/applications');
    const good = { name: 'A', desc: 'B\r\nC', website: 'http://localhost/', redirect_uri };
    const fields = { ...good, [field]: value };
    const shown = await ann.submit(form, 'Register', fields);
    expectFormAgain(shown, field, value);
    for (const [name, text] of Object.entries(fields)) {
      const again = text.replaceAll('\r\n', '\n').replaceAll('\0', '\ufffd');
      expect(contentOf(shown, name)).toBe(again);
    }
    // The corrected form keeps its id.
    expect(contentOf(shown, 'form_id')).toBe(contentOf(form, 'form_id'));
  });

  test('count a line break in a description as browsers do', async () => {
    const desc = `\n${'x\n'.repeat(249)}x`;
    const registered = await ann.register({
      redirect_uri,
      desc: desc.replaceAll('\n', '\r\n'),
    });
    expect(noticeOn(registered)).toBe('The application is registered. Its credentials are below.');
    expect(contentOf(registered, 'desc')).toBe(desc);
  });

  test('register one application for a form that is sent twice', async () => {
    const { browser } = await come('Una');
    const form = await browser.visit('account/applications');
    const fields = { name: 'Once', desc: '', website: 'https://x.example', redirect_uri };
    const submit = (changes = {}) => browser.submit(form, 'Register', { ...fields, ...changes });
    const both = await Promise.all([submit(), submit()]);
    const [first, second] = both.map(clientIdOn);
    expect(first).toMatch(/^[\da-f]{32}$/);
    expect(second).toBe(first);
    expect(clientIdOn(await submit())).toBe(first);
    // Other content or another form makes another application, and another user cannot reach this
    // one.
    const others = [
      await submit({ desc: 'x' }),
      await browser.register(fields),
      await ann.register({ ...fields, form_id: contentOf(form, 'form_id') ?? '' }),
    ];
    expect(new Set([first, ...others.map(clientIdOn)]).size).toBe(4);
    const list = await browser.visit('account/applications');
    expect(list.html.match(/>Once</g)).toHaveLength(3);
  });

  test('refuse a 26th application', async () => {
    const { browser, id } = await come('Max');
    for (let i = 0; i < 25; i++) {
      await makeClient({ id });
    }
    const shown = await browser.register({ name: 'X', redirect_uri });
    expect(shown).toHaveStatus(400);
    const fault = 'An account can have at most 25 applications: delete one first.';
    expect(faultsOn(shown)).toEqual({ '': fault });
    expect(contentOf(shown, 'name')).toBe('X');
  });

  test.each([
    'https://client.example',
    'https://client.example:8443/a?b=c',
    'http://localhost:8080/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:8080/',
    'https://client.example/a/../b?x=%2F',
    'https://client.example?a',
    'https://xn--wgv71a.example/',
    'https://a_b.client-1.example/@c',
  ])('register the redirect URI %s unchanged', async (uri) => {
    const registered = await ann.register({ name: '名'.repeat(64), redirect_uri: uri });
    expect(registered.html).toContain(`value="${uri}"`);
    const consent = await ann.visit(
      authorizeUrl({ client_id: clientIdOn(registered), redirect_uri: uri }),
    );
    expect((await ann.allow(consent)).url).toContain('code=');
  });

  test('accept the website https://client.example#about', async () => {
    const website = 'https://client.example#about';
    const registered = await ann.register({ website, redirect_uri });
    expect(registered.html).toContain(`value="${website}"`);
  });

  test('show only the user’s own applications', async () => {
    const csrf = csrfOn(await ann.visit('account/applications'));
    const address = `account/applications/${client_id}`;
    expectErrorPage(await ann.visit(address), 404);
    expectErrorPage(await ann.visit('account/applications/x'), 404);
    const registration = { name: 'Mine', desc: '', website: 'https://x.example', redirect_uri };
    for (const [path, fields] of [
      [address, registration],
      [`${address}/secret`, {}],
      [`${address}/revoke`, { everybody: 'yes' }],
      [`${address}/delete`, { confirm: 'yes' }],
    ] as const) {
      expectErrorPage(await ann.post(path, { csrf, ...fields }), 404);
      expectErrorPage(await ann.post(path, fields), 403);
      expectErrorPage(await stranger.post(path, { csrf, ...fields }), 401);
    }
    expect((await redeem(client, 'rvc_x')).body.error).toBe('invalid_grant');
  });

  test('change the profile', async () => {
    const { browser: hal, account: page } = await come('Hal');
    const saved = await hal.submit(page, 'Save', { display_name: 'Hal 9000', email: '' });
    expect(saved.html).toContain('<h1><bdi>Hal 9000</bdi></h1>');
    expect(saved.html).toContain('name="email" value=""');
    expect(noticeOn(saved)).toMatch(/^Welcome! Your name is saved\./);
    expect(noticeOn(await hal.visit('account'))).toBeUndefined();
    for (const [name, value, fault] of [
      ['display_name', '', 'Please fill this in.'],
      ['display_name', 'x'.repeat(65), 'It must have 1 to 64 characters.'],
      ['email', 'x', 'It must be one email address.'],
      ['email', `${'x'.repeat(250)}@a.example`, 'It must have at most 254 characters.'],
    ] as const) {
      const fields = { display_name: 'Hal', email: '', [name]: value };
      expectFormAgain(await hal.submit(page, 'Save', fields), name, value, fault);
    }
    // Both faults are shown at once.
    const both = await hal.submit(page, 'Save', { display_name: ' ', email: 'x' });
    expect(Object.keys(faultsOn(both))).toEqual(['', 'display_name', 'email']);
    expect((await hal.visit('account')).html).toContain('<h1><bdi>Hal 9000</bdi></h1>');
  });

  test('say what applications can read', async () => {
    const consent = await ann.visit(authorizeUrl());
    const explanation = textBetween(consent, '<strong>Know who you are.</strong>', '</li>');
    expect(explanation).toMatch(/email address.* drafts.* connected/);
    await redeem(client, codeIn(await ann.allow(consent)));
    const connections = await ann.visit('account/connections');
    expect(textBetween(connections, '<strong>Know who you are.</strong>', '</li>')).toBe(
      explanation,
    );
    const { html } = await ann.visit('account');
    expect(html).toContain('Shown to applications that you connect, not to other people.');
  });

  test('accept forms only', async () => {
    const Cookie = `session=${ann.jar.get('session /')?.value}`;
    const response = await fetch(`${issuer}/account`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Cookie },
      body: JSON.stringify({ display_name: 'X' }),
    });
    expect(response).toHaveStatus(400);
  });
});
