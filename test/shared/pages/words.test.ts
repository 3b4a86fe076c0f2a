import { nameOfEntityType } from '../../../shared/entity/entity-type.ts';
import { nameOfLanguage } from '../../../shared/pages/frame/language-names.ts';
import { ageOf } from '../../../shared/pages/frame/words.ts';
import { languages } from '../../../shared/review/languages.ts';
import { stopClock } from '../../helpers/clock.ts';

test('every language has its English name in Unicode, and Twi its own beside Akan', () => {
  const unicode = new Intl.DisplayNames(['en'], { type: 'language' });
  expect(languages.map((code) => `${code} ${nameOfLanguage(code)}`)).toEqual(
    languages.map((code) => `${code} ${code === 'tw' ? 'Twi' : unicode.of(code)}`),
  );
});

test('no two languages have one name', () => {
  expect(new Set(languages.map(nameOfLanguage)).size).toBe(languages.length);
});

test.each([
  ['release_group', 'Album or single'],
  ['bk_literary_work', 'Book'],
  ['event', 'Event'],
] as const)('%s is called %s', (type, name) => {
  expect(nameOfEntityType(type)).toBe(name);
});

test.each([
  [0, 'a moment'],
  [59_000, 'a moment'],
  [60_000, '1 minute'],
  [59 * 60_000, '59 minutes'],
  [60 * 60_000, '1 hour'],
  [24 * 3_600_000 - 1, '23 hours'],
  [24 * 3_600_000, '1 day'],
  [400 * 24 * 3_600_000, '400 days'],
])('an age of %d ms is %s', async (milliseconds, words) => {
  stopClock(Date.parse('2026-11-22T12:00:00.000Z'));
  const since = new Date(Date.now() - milliseconds).toISOString();
  const text = words.replace(' ', '\u00a0');
  expect(`${await ageOf(since)}`).toBe(`<time datetime="${since}">${text}</time>`);
});
