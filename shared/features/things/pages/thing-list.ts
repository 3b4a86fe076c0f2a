// Lists of things, and the tabs between things and reviews.
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import { nameOfEntityType } from '../../../core/entity/entity-type.ts';
import { knownEntity } from '../../../core/entity/metadata.ts';
import { entityUrl } from '../../../pages/entity/addresses.ts';
import { pictureTile } from '../../../pages/entity/picture.ts';
import type { Html } from '../../../pages/frame/layout.ts';
import { tabs } from '../../../pages/frame/lists.ts';
import { stars } from '../../../pages/frame/stars.ts';
import { counted } from '../../../pages/frame/words.ts';
import type { FoundThing } from '../found.ts';

/** The tabs of what can be browsed, with the page at a path marked. */
export function browseTabs(path: '/reviews' | '/things'): Html {
  const base = authUrl();
  return tabs('Browse', base + path, [
    [`${base}/reviews`, 'Reviews'],
    [`${base}/things`, 'What they are about'],
  ]);
}

/** Things side by side, by their pictures. The line has no room for the type. */
export function thingShelf(things: readonly FoundThing[]): Html {
  return html`<ul class="shelf">${things.map(
    (thing) => html`<li>
      ${pictureTile(thing.record, knownEntity(thing.record), 128)}
      <h3>${linkTo(thing)}</h3>
      <p class="soft"><bdi>${thing.record.about ?? nameOfEntityType(thing.record.entity_type)}</bdi></p>
      <p>${numbersOf(thing)}</p>
    </li>`,
  )}</ul>`;
}

function linkTo({ record }: FoundThing): Html {
  return html`<a href="${entityUrl(record)}"><bdi>${record.name}</bdi></a>`;
}

/** The average of a thing in stars, if there is one, and the number of its reviews. */
export function numbersOf({ review_count, average_rating }: Omit<FoundThing, 'record'>): Html {
  const { rating } = average_rating;
  if (review_count === 0) return html`No reviews yet`;
  return html`${rating !== null && html`<span class="average"><b aria-hidden="true">${rating}</b> ${stars(rating)}</span> `}<span class="soft">${counted(review_count, 'review')}</span>`;
}
