import { launchBrowser } from '../helpers/chromium.ts';
import { startStackWithProvider } from '../helpers/identity-provider.ts';
import { complaintsOn, handsOn } from '../helpers/page.ts';
import { startTlsProxy } from '../helpers/proxy.ts';

const login = 'https://login.example.org';
const publicUrl = 'https://example.org/reviews';
const hosts = ['example.org', 'login.example.org'];
const ways: Record<string, string> = {};
const { port } = await startTlsProxy(hosts, ({ hostname }) => ways[hostname]);
const { authUrl, local } = await startStackWithProvider({ publicUrl }, async (at) => {
  ways['login.example.org'] = at;
  return login;
});
ways['example.org'] = local;
const rules = hosts.map((host) => `MAP ${host}:443 127.0.0.1:${port}`);
const browser = await launchBrowser(`--host-resolver-rules=${rules.join()}`);

test('a browser signs in, opens the reference and signs out below a path', async () => {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  const complaints = complaintsOn(page, login);
  const { arrive, click, hear, signOut } = handsOn(() => page);

  await page.goto(`${authUrl}/account`);
  await arrive('Who are you?');
  expect(new URL(page.url()).origin).toBe(login);
  await page.getByLabel('Email').fill('ann@example.com');
  await click('Sign in');
  await arrive('Choose your public name');
  await click('Save and continue');
  await hear('Welcome');
  expect(page.url()).toBe(`${authUrl}/`);
  const cookies = await context.cookies(authUrl);
  const session = cookies.find(({ name }) => name === '__Host-session');
  expect(session).toMatchObject({ domain: 'example.org', path: '/', secure: true, httpOnly: true });

  await page.goto(`${publicUrl}/ws/docs/api`);
  await page.getByRole('heading', { name: 'API reference', level: 1 }).waitFor();

  await page.goto(`${authUrl}/account`);
  await signOut();
  await arrive('Do you want to sign out?');
  await click('Yes, sign me out');
  await arrive('You are signed out');
  expect(page.url()).toBe(`${authUrl}/account/sign-out`);
  expect((await context.cookies(authUrl)).map(({ name }) => name)).not.toContain('__Host-session');
  expect(complaints).toEqual([]);
  await context.close();
});
