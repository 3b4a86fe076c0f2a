import { contrastOf } from '../../../../shared/base/site/colour.ts';
import { readSite } from '../../../../shared/base/site/site.ts';

// Backgrounds of pages, footers and notices, as the style sheets have them.
const dark = ['#161a22', '#1f2430', '#15251b', '#2a1a1c'];

describe('the settings of a site', () => {
  test('are those of a service without a name, if nothing is set', () => {
    const nothing = { SITE_NAME: ' ', SITE_ACCENT: '', SITE_LICENSE: undefined };
    for (const environment of [{}, nothing]) {
      expect(readSite(environment)).toMatchObject({
        name: 'Reviews',
        isNamed: false,
        accent: { light: '#2f55d4', dark: '#8aa4ff' },
        pages: [],
      });
    }
  });

  test.each([
    [{ SITE_NAME: 'x'.repeat(41) }, 'SITE_NAME has 41 characters: it may have at most 40'],
    [{ SITE_TEXT: 'x'.repeat(201) }, 'SITE_TEXT has 201 characters: it may have at most 200'],
    [{ SITE_CONTACT: 'ann' }, 'SITE_CONTACT ann is not a contact'],
    [{ SITE_CONTACT: 'javascript:alert(1)' }, 'is not a contact'],
    [{ SITE_CONTACT: 'https://example.org/"><b>' }, 'is not a contact'],
    [{ SITE_IMAGE: 'http://example.org/x.png' }, 'begins with https://'],
    [{ SITE_LICENSE: 'MIT' }, 'SITE_LICENSE MIT is unknown: choose CC BY-SA 3.0'],
    [{ SITE_LANGUAGE: 'english' }, 'SITE_LANGUAGE english is unknown'],
    [{ SITE_ACCENT: 'purple' }, 'SITE_ACCENT purple is no colour'],
    [{ SITE_ACCENT: '#fff #000 #fff' }, 'is no colour'],
    // Contrasts by WCAG 2.2, against the lightest and the darkest place where the colour is read.
    [{ SITE_ACCENT: '#8aa4ff' }, '#8aa4ff has a contrast of 2.13 on a light page, and needs 4.5'],
    [
      { SITE_ACCENT: '#2f55d4 #2f55d4' },
      '#2f55d4 has a contrast of 2.49 on a dark page, and needs 4.5: choose a lighter colour',
    ],
  ])('refuse %j with a sentence', (environment, sentence) => {
    expect(() => readSite(environment)).toThrow(sentence);
  });

  test('read one colour as two, each with enough contrast in its scheme', () => {
    expect(contrastOf('#000000', '#ffffff')).toBe(21);
    expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
    for (const SITE_ACCENT of ['#7a1f5c', '#005A2B', '#000000', '#b3261e']) {
      const { accent } = readSite({ SITE_ACCENT });
      expect(accent.light).toBe(SITE_ACCENT.toLowerCase());
      for (const ground of dark) {
        expect(contrastOf(accent.dark, ground)).toBeGreaterThanOrEqual(4.5);
      }
    }
    expect(readSite({ SITE_ACCENT: '#2f55d4 #8aa4ff' }).accent.dark).toBe('#8aa4ff');
  });

  test('take a mail address or a page as contact', () => {
    expect(readSite({ SITE_CONTACT: 'ann@example.org' }).contact).toBe('mailto:ann@example.org');
    const page = 'https://example.org/contact?x=1';
    expect(readSite({ SITE_CONTACT: page }).contact).toBe(page);
  });
});
