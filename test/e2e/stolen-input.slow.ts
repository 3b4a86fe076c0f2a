/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { launchBrowser } from '../helpers/chromium.ts';
import { handsOn } from '../helpers/page.ts';
import { startTestStack } from '../helpers/stack.ts';

// Another site can make a person hold a key or click, and show a page of ours just then.

const browser = await launchBrowser();
const { authUrl: at, stream } = await startTestStack();
const { makeUser, visitor } = await import('../helpers/world.ts');
const { findThings } = await import('../../shared/features/things/find-things.ts');
const { makeClient } = await import('../helpers/oauth-client.ts');

const { client_id, redirect_uri } = await makeClient(await makeUser());
const consent = `${at}/oauth/authorize?${new URLSearchParams({ response_type: 'code', client_id, redirect_uri })}`;

let context: BrowserContext;
let page: Page;
let devices: CDPSession;
beforeEach(async () => {
  context = await browser.newContext();
  await context.route('https://*.example/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<h1>Another site</h1>' }),
  );
  await openTab();
});
afterEach(() => context.close());

async function openTab(): Promise<void> {
  page = await context.newPage();
  devices = await context.newCDPSession(page);
}

const { arrive, signIn } = handsOn(() => page);

async function open(address: string, heading: string | RegExp): Promise<void> {
  await page.goto(address);
  await signIn('Ann');
  await arrive(heading);
}

/** Holds Enter on a page that leaves for the address at the first sign of the key. */
async function holdEnterTowards(address: string): Promise<void> {
  await page.goto('https://game.example/');
  const leave = `location.assign(${JSON.stringify(address)})`;
  await page.evaluate(`addEventListener('keydown', () => ${leave}, { once: true })`);
  const enter = { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' };
  for (let i = 0; i < 60; i++) {
    await devices.send('Input.dispatchKeyEvent', { type: 'keyDown', autoRepeat: i > 0, ...enter });
    await page.waitForTimeout(30);
  }
  await devices.send('Input.dispatchKeyEvent', { type: 'keyUp', ...enter, text: undefined });
}

/** Presses and releases the button of the mouse over the middle of an element. */
async function press(name: string): Promise<void> {
  const box = await page.getByRole('button', { name, exact: true }).boundingBox();
  if (!box) throw new Error(`There is no ${name}`);
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const click = { ...middle, button: 'left', clickCount: 1 } as const;
  await devices.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...click });
  await devices.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...click });
  await page.waitForTimeout(300);
}

test('a key that is held while a page opens votes for nothing, and saves no name', async () => {
  const id = await (await makeUser()).publishes();
  await open(`${at}/review/${id}/vote?vote=down`, 'Was this review helpful?');
  await holdEnterTowards(`${at}/review/${id}/vote?vote=down`);
  await arrive('Was this review helpful?');
  expect((await visitor.sees(id)).popularity).toBe(0);
  const name = `${at}/account?${new URLSearchParams({ return_to: `${at}/reviews` })}`;
  await holdEnterTowards(name);
  expect(page.url()).toBe(name);
});

test('a key that is held while a page opens adds nothing, although a field has the focus', async () => {
  const address = `${at}/entity/new?name=Watches&entity_type=film#name`;
  await open(address, 'Add something to review');
  await holdEnterTowards(address);
  await arrive('Add something to review');
  await stream.idle();
  expect(await findThings('Watches')).toEqual({ things: [] });
});

test('the first click of a mouse that has not moved over the page allows nothing', async () => {
  await open(consent, /Demo/);
  await openTab();
  await page.goto(consent);
  await page.waitForTimeout(2000);
  await press('Allow');
  await arrive(/Demo/);
  const allow = page.getByRole('button', { name: 'Allow', exact: true });
  await allow.hover();
  await page.waitForTimeout(700);
  // No such host exists.
  await page.route(`${redirect_uri}**`, (route) => route.fulfill({ body: 'Signed in' }));
  await press('Allow');
  await page.waitForURL(`${redirect_uri}**`);
});
