import { join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** Returns the acts of a person on the current page, by the names that a screen reader says. */
export function handsOn(page: () => Page) {
  const hands = {
    /** Moves the mouse over the page first, because some buttons wait for that. */
    async click(name: string): Promise<void> {
      await page().mouse.move(1, 1);
      await page().getByRole('button', { name, exact: true }).click();
    },
    follow: (name: string) => page().getByRole('link', { name, exact: true }).click(),
    fill: (name: string, text: string) =>
      page().getByRole('textbox', { name, exact: true }).fill(text),
    /** Publishes a review in English by the form. A name is for a thing that has none. */
    async review(text: string, stars: string, name?: string): Promise<void> {
      if (name !== undefined) await hands.fill('Name', name);
      await page().getByRole('radio', { name: stars }).check();
      await hands.fill('Your review', text);
      await page().getByLabel('Language of the text').selectOption({ label: 'English' });
      // A licence that the person has chosen before is proposed, and the others are folded.
      const another = page().getByText('Choose another licence');
      if (await another.count()) await another.click();
      await page()
        .getByRole('radio', { name: /^CC BY 4\.0/ })
        .check();
      await hands.click('Publish');
    },
    /** Waits for a page with this heading. */
    arrive: (name: string | RegExp) =>
      page().getByRole('heading', { level: 1, name, exact: true }).waitFor(),
    /** Waits for the notice about a change. */
    hear: (text: string) => page().getByRole('status').filter({ hasText: text }).waitFor(),
    /** Opens the menu of the account, and follows a link of it. */
    async choose(name: string): Promise<void> {
      await page().locator('header summary').click();
      await page()
        .getByRole('navigation', { name: 'Your account' })
        .getByRole('link', { name })
        .click();
    },
    /** Signs out, by the menu of the account. */
    async signOut(): Promise<void> {
      await page().locator('header summary').click();
      await hands.click('Sign out');
    },
    /** Signs in at the development identity provider. A new person keeps the proposed name. */
    async signIn(name: string): Promise<void> {
      await hands.arrive('Development sign-in');
      await hands.fill('Name', name);
      await hands.click('Sign in');
      const heading = page().getByRole('heading', { level: 1 });
      await heading.filter({ hasText: 'Development sign-in' }).waitFor({ state: 'hidden' });
      await heading.waitFor();
      if ((await heading.textContent()) === 'Choose your public name') {
        await hands.click('Save and continue');
        await heading.filter({ hasText: 'Choose your public name' }).waitFor({ state: 'hidden' });
      }
    },
  };
  return hands;
}

/** Returns a growing list of errors and warnings. `website` has no icon, which is no fault. */
export function complaintsOn(page: Page, website?: string): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    const isIcon = message.location().url === `${website}/favicon.ico`;
    if (!isIcon && ['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(`${error}`));
  return complaints;
}

/**
 * All rules of axe for WCAG 2.2 AA, and its best practice. Axe checks that targets have 24 pixels
 * (2.5.8) only if asked.
 */
export const everything = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  rules: { 'target-size': { enabled: true } },
};

/** Rules whose results depend on widths and colours. */
export const looksOnly = {
  runOnly: {
    type: 'rule',
    values: ['color-contrast', 'target-size', 'scrollable-region-focusable'],
  },
};

/** Lists violations that axe finds on a page, by element. The page must allow scripts. */
export async function violationsOn(page: Page, options: object = everything) {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  const { violations } = (await page.evaluate(
    `axe.run({ ...${JSON.stringify(options)}, resultTypes: ['violations'] })`,
  )) as AxeResults;
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, failureSummary }) => {
      return { id, impact, at: target.join(' '), why: failureSummary };
    }),
  );
}

/**
 * Compares a page with the rules for everybody, on a phone and a laptop, in both colour schemes.
 * Keeps a picture of each in the folder PICTURES, if there is one.
 */
export async function lookAtAllOf(page: Page, name: string): Promise<void> {
  const before = page.viewportSize();
  let options: object = everything;
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const picture = `${name}-${width}-${colorScheme}`;
      const { PICTURES } = process.env;
      if (PICTURES) await page.screenshot({ path: join(PICTURES, `${picture}.png`) });
      expect([picture, await violationsOn(page, options)]).toEqual([picture, []]);
      options = looksOnly;
    }
    const scrollWidth = await page.evaluate('document.documentElement.scrollWidth');
    expect([name, scrollWidth]).toEqual([name, width]);
  }
  await page.emulateMedia({ colorScheme: null });
  if (before) await page.setViewportSize(before);
}
