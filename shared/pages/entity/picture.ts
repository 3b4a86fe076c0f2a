// The picture of a thing, or a tile with its initials. Both have the same size.
import { html } from 'hono/html';
import { isShownPicture, pictureOf } from '../../core/entity/picture.ts';
import type { Entity } from '../../core/entity/record.ts';
import type { Html } from '../frame/layout.ts';
import { initialsOf, type TileSize, tile } from '../frame/tile.ts';

interface Pictured {
  name: string;
  image: string | null;
}

/**
 * A square for the picture of a thing. The tile lies below the picture, and shows where there is
 * none. Its name stands beside it, so screen readers skip both.
 */
export function pictureTile(
  { entity_id, entity_type }: Entity,
  known?: Pictured | null,
  size: TileSize = 64,
): Html {
  // The thing may have no name yet, but a picture.
  const image = known ? known.image : pictureOf(entity_type, entity_id);
  const letters = tile(entity_id, initialsOf(known?.name ?? '', 2), { size });
  return html`<span class="picture" aria-hidden="true">${letters}${image && isShownPicture(image) && html`<img src="${image}" alt="" loading="lazy" referrerpolicy="no-referrer">`}</span>`;
}
