// Lists of things, and the tabs between things and reviews.
import { html } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import { knownEntity } from '../../entity/metadata.ts';
import type { FoundThing } from '../../things/found.ts';
import type { Html } from '../frame/layout.ts';
import { tabs } from '../frame/lists.ts';
import { withQuery } from '../frame/own-url.ts';
import { counted } from '../frame/words.ts';
import { aboutLine } from './named-entity.ts';
import { pictureTile } from './picture.ts';

/** The tabs of what can be browsed, with the page at a path marked. */
export function browseTabs(path: '/reviews' | '/things'): Html {
  const base = authUrl();
  return tabs('Browse', base + path, [
    [`${base}/reviews`, 'Reviews'],
    [`${base}/things`, 'What they are about'],
  ]);
}

/** Rows of things: picture, name, line, average and number of reviews. */
export function thingList(things: readonly FoundThing[]): Html {
  return html`<ul class="plain">${things.map((thing) => html`<li class="thing">${inShort(thing)}</li>`)}</ul>`;
}

/** Things side by side, by their pictures. */
export function thingShelf(things: readonly FoundThing[]): Html {
  return html`<ul class="shelf">${things.map((thing) => html`<li>${inShort(thing)}</li>`)}</ul>`;
}

function inShort(thing: FoundThing): Html {
  const { entity_id, entity_type } = thing.record;
  const entity = { entity_id, entity_type };
  const known = knownEntity(thing.record);
  return html`${pictureTile(entity, known)}
    <div>
      <h3><a href="${withQuery(`${authUrl()}/entity/${entity_id}`, { entity_type })}"><bdi>${known.name}</bdi></a></h3>
      ${aboutLine(entity, known)}
      <p>${numbersOf(thing)}</p>
    </div>`;
}

/** The average and the number of reviews of a thing, in words. */
export function numbersOf({ review_count, average_rating }: Omit<FoundThing, 'record'>): string {
  const { rating, count } = average_rating;
  if (review_count === 0) return 'No reviews yet';
  const reviews = counted(review_count, 'review');
  return rating === null
    ? reviews
    : `${rating} of 5 stars from ${counted(count, 'rating')} · ${reviews}`;
}
