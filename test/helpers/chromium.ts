import { chromium } from 'playwright-core';

/**
 * Starts Debian’s Chromium, or the one named by CHROMIUM, for one test file. It closes before a
 * stack that was started later.
 */
export async function launchBrowser(...args: string[]) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', ...args],
  });
  afterAll(() => browser.close());
  return browser;
}
