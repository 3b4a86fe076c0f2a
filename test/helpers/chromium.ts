import { afterAll } from '@jest/globals';
import { chromium } from 'playwright-core';

/** Debian’s Chromium, or the one that CHROMIUM names, for one test file. It is closed before a stack that is started after it. */
export async function launchBrowser(...args: string[]) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', ...args],
  });
  afterAll(() => browser.close());
  return browser;
}
