import { createServer } from 'node:http';
import { launchBrowser } from '../helpers/chromium.ts';
import { serve } from '../helpers/listen.ts';
import { handsOn } from '../helpers/page.ts';
import { startTestStack } from '../helpers/stack.ts';

const browser = await launchBrowser();
const { authUrl: issuer } = await startTestStack();
const { makeUser } = await import('../helpers/world.ts');
const { makeClient } = await import('../helpers/oauth-client.ts');

/** An application that opens the consent in a pop-up window, which hands the answer back. */
const application = createServer((request, response) => {
  response.setHeader('Content-Type', 'text/html');
  const isCallback = request.url?.startsWith('/callback');
  response.end(`<!doctype html><html lang="en"><title>Application</title>
    ${isCallback ? '<script>opener.postMessage(location.search, origin); close()</script>' : '<button>Connect</button>'}`);
});
const website = await serve(application);
const { client_id, redirect_uri } = await makeClient(await makeUser(), `${website}/callback`);
const query = { response_type: 'code', client_id, redirect_uri, scope: 'review', state: 'x' };
const consent = `${issuer}/oauth/authorize?${new URLSearchParams(query)}`;

test('a new person connects an application in a pop-up window, which tells it the code', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(website);
  await page.evaluate(`addEventListener('message', ({ data }) => document.title = data);
    document.querySelector('button').onclick = () => open(${JSON.stringify(consent)}, 'p', 'popup')`);
  const opened = context.waitForEvent('page');
  await page.click('button');
  const popup = await opened;
  const { signIn, arrive, click } = handsOn(() => popup);
  await arrive('Development sign-in');
  await signIn('Nell');
  await arrive('Let Demo use your account?');
  await Promise.all([popup.waitForEvent('close'), click('Allow')]);
  await page.waitForFunction("document.title.startsWith('?')");
  const answer = new URLSearchParams(await page.title());
  expect(answer.get('code')).toMatch(/./);
  expect(answer.get('state')).toBe('x');
  await context.close();
});
