// A tile: initials on a colour of the id. Things without a picture have one, and people.
import { html } from 'hono/html';
import type { Html } from './layout.ts';

/**
 * Twelve hues of one perceived lightness. White letters have a contrast of at least 4.5 to each. A
 * tile has both colours, so this holds in both colour schemes.
 */
const colours = [
  '#af4855',
  '#ae4e2a',
  '#a25a05',
  '#93640c',
  '#547d17',
  '#1f8441',
  '#09816b',
  '#0c7d87',
  '#1178a5',
  '#416cbc',
  '#6f5eb7',
  '#a04b87',
];

/** Sides in pixels: in a line of text, beside two lines, in a list of things, and in a head. */
export type TileSize = 24 | 40 | 64 | 128;

/**
 * A square with letters on a colour of the id, or a circle for a person. Screen readers skip it,
 * because the name stands beside it.
 */
export function tile(
  id: string,
  letters: string,
  { size, isRound = false }: { size: TileSize; isRound?: boolean },
): Html {
  const colour = colours[Number.parseInt(id.slice(0, 4), 16) % colours.length];
  const isOne = [...letters].length === 1;
  return html`<svg class="tile" width="${size}" height="${size}" viewBox="0 0 64 64" aria-hidden="true"><rect width="64" height="64" rx="${isRound ? 32 : 6}" fill="${colour}"/><text x="32" y="${isOne ? 44 : 41}" font-size="${isOne ? 34 : 26}">${letters}</text></svg>`;
}

/** The first letter of each of the first words of a name, at most so many, or a dot. */
export function initialsOf(name: string, most: 1 | 2): string {
  // A word begins with a letter or digit. Its marks and apostrophes do not end it.
  const words = name.split(/[^\p{L}\p{N}\p{M}'’]+/u).map((word) => /[\p{L}\p{N}]/u.exec(word)?.[0]);
  const letters = words.filter((letter) => letter !== undefined).slice(0, most);
  return letters.join('').toUpperCase() || '·';
}
