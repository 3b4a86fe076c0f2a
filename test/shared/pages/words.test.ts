import { expect, test } from '@jest/globals';
import { nameOfEntityType, nameOfLanguage } from '../../../shared/pages/words.ts';
import { languages } from '../../../shared/review/languages.ts';

test('every language has its English name in Unicode', () => {
  const unicode = new Intl.DisplayNames(['en'], { type: 'language' });
  expect(languages.map((code) => `${code} ${nameOfLanguage(code)}`)).toEqual(
    languages.map((code) => `${code} ${unicode.of(code)}`),
  );
});

test.each([
  ['release_group', 'Release group'],
  ['bk_literary_work', 'Literary work'],
  ['event', 'Event'],
] as const)('%s is called %s', (type, name) => {
  expect(nameOfEntityType(type)).toBe(name);
});
