import { languages } from '../../../shared/base/languages.ts';
import { nameOfEntityType } from '../../../shared/core/entity/entity-type.ts';
import { nameOfLanguage } from '../../../shared/pages/frame/language-names.ts';
import { ageOf, when } from '../../../shared/pages/frame/words.ts';
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

const hour = 3_600_000;
const exact = (day: string) => `title="${day} 2026 at 12:00 UTC"`;
test.each([
  ['2026-11-22T12:00:00.000Z', exact('22 November'), 'within the hour', 0],
  ['2026-11-22T12:00:00.000Z', exact('22 November'), 'within the hour', hour - 1],
  ['2026-11-22T12:00:00.000Z', exact('22 November'), '1 hour ago', hour],
  ['2026-11-22T12:00:00.000Z', exact('22 November'), '23 hours ago', 24 * hour - 1],
  ['2026-11-22T12:00:00.000Z', exact('22 November'), '1 day ago', 24 * hour],
  ['2026-11-22T12:00:00.000Z', exact('22 November'), '6 days ago', 7 * 24 * hour - 1],
  ['2026-11-22', '', '22 November 2026', 7 * 24 * hour],
  ['2026-11-22', '', '22 November 2026', -1],
])('%s %s is told as %s after %d ms', async (datetime, title, words, age) => {
  const published = '2026-11-22T12:00:00.000Z';
  stopClock(Date.parse(published) + age);
  const attributes = [`datetime="${datetime}"`, title].filter(Boolean).join(' ');
  expect(`${await when(published)}`).toBe(`<time ${attributes}>${words}</time>`);
});
