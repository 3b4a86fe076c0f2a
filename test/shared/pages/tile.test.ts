import { randomUUID } from 'node:crypto';
import { initialsOf, tile } from '../../../shared/pages/frame/tile.ts';

/** Relative luminance of a colour (WCAG 2.2). */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((start) => {
    const value = Number.parseInt(colour.slice(start, start + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

test('a tile is as light as white letters with a contrast of 4.5 to 1 allow, of many hues', async () => {
  const fills = new Set<string>();
  for (let i = 0; i < 500; i++) {
    const id = randomUUID();
    const markup = `${await tile(id, 'A', { size: 24 })}`;
    expect(`${await tile(id, 'A', { size: 24 })}`).toBe(markup);
    fills.add(/fill="(.*?)"/.exec(markup)?.[1] ?? '');
  }
  const contrasts = [...fills].map((fill) => 1.05 / (luminance(fill) + 0.05));
  expect(Math.min(...contrasts)).toBeGreaterThanOrEqual(4.5);
  // Tiles that are darker without need look like mud.
  expect(Math.max(...contrasts)).toBeLessThan(6);
  expect(fills.size).toBeGreaterThanOrEqual(10);
});

test.each([
  ['Ann Lee', 1, 'A'],
  ['ann lee', 2, 'AL'],
  ['The Beatles · 1969', 2, 'TB'],
  ['’Allo ’Allo', 2, 'AA'],
  ['千と千尋', 2, '千'],
  ['ليلى', 1, 'ل'],
  ['𠮷野家', 1, '𠮷'],
  ['Élan', 1, 'É'],
  ['<b>', 2, 'B'],
  ['***', 2, '·'],
  ['', 1, '·'],
] as const)('the initials of %j, at most %d, are %s', (name, most, letters) => {
  expect(initialsOf(name, most)).toBe(letters);
});

test('a tile escapes its letter', async () => {
  expect(`${await tile('ab', '<', { size: 40 })}`).toContain('>&lt;</text>');
});
