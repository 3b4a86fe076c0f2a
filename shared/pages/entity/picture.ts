// The picture of a thing, or a tile with its initials. Both have the same size.
import { html } from 'hono/html';
import { isShownPicture, pictureOf } from '../../entity/picture.ts';
import type { Entity } from '../../entity/record.ts';
import type { Html } from '../frame/layout.ts';

interface Pictured {
  name: string;
  image: string | null;
}

/**
 * A square for the picture of a thing. The tile lies below the picture, and shows where there is
 * none. Its name stands beside it, so screen readers skip both.
 */
export function pictureTile({ entity_id, entity_type }: Entity, known?: Pictured | null): Html {
  // The thing may have no name yet, but a picture.
  const image = known ? known.image : pictureOf(entity_type, entity_id);
  return html`<span class="picture" aria-hidden="true">${tile(entity_id, known?.name)}${image && isShownPicture(image) && html`<img src="${image}" alt="" width="64" height="64" loading="lazy" referrerpolicy="no-referrer">`}</span>`;
}

/** White initials on a colour of the id, dark enough for them. */
function tile(id: string, name = '') {
  const hue = Number.parseInt(id.slice(0, 4), 16) % 360;
  return html`<svg viewBox="0 0 64 64"><rect width="64" height="64" fill="hsl(${hue} 45% 30%)"/><text x="32" y="41" text-anchor="middle" font-size="26" fill="#fff">${initialsOf(name)}</text></svg>`;
}

/** The first letters of the first two words. */
function initialsOf(name: string): string {
  const words = name.match(/[\p{L}\p{N}][\p{M}]*/gu) ? name.split(/[^\p{L}\p{N}\p{M}'’]+/u) : [];
  const letters = words.filter(Boolean).map((word) => [...word][0] ?? '');
  return letters.slice(0, 2).join('').toUpperCase() || '·';
}
