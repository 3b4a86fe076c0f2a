import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { readLength } from '../../shared/base/list/totals.ts';
import { version } from '../../shared/base/routes.ts';
import { site } from '../../shared/base/site/site.ts';
import { findMetadata } from '../../shared/core/entity/metadata.ts';
import type { Metadata } from '../../shared/core/entity/presented.ts';
import { findFrontReviews } from '../../shared/core/review/front-reviews.ts';
import { sumOfCounts } from '../../shared/core/review/owner-counts.ts';
import { readCounts } from '../../shared/core/review/review-list.ts';
import {
  type FoundThing,
  listMostReviewed,
  thingShelf,
} from '../../shared/features/things/public.ts';
import { manyThings, oneThing } from '../../shared/pages/entity/shown-groups.ts';
import { headOf } from '../../shared/pages/frame/head.ts';
import type { Html } from '../../shared/pages/frame/layout.ts';
import { nothingYet, toFind } from '../../shared/pages/frame/next-steps.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';
import { listByThing, lovedReview, reviewCard } from '../../shared/pages/review/review-card.ts';

const description = () =>
  `People’s reviews of ${manyThings()}. Read them, publish them and vote on them from any website or program.`;

/** Things and reviews that the page shows: together they cost no more than a list. */
const shown = { things: 6, reviews: 5 };

export const handler = visitedPage(v.object({}), async () => {
  const counting = readCounts();
  const reading = findFrontReviews(shown.reviews);
  const [counts, things, { loved, newest: reviews }, names, people] = await Promise.all([
    counting,
    counting.then((counts) => listMostReviewed(counts, shown.things)),
    reading,
    reading.then(({ loved, newest }) =>
      findMetadata([...newest, ...(loved ? [loved] : [])].map(({ review }) => review)),
    ),
    readLength('users'),
  ]);
  const { name, isNamed, text = description() } = site();
  const count = sumOfCounts([...counts.values()]).all;
  const listed = reviews.map((each, i) => ({
    review: each.review,
    metadata: names[i],
    item: html`<li>${reviewCard(each)}</li>`,
  }));
  return {
    title: isNamed ? name : 'Open reviews',
    description: text,
    isWide: true,
    head: headOf({ path: '/', type: 'website', feed: 'All reviews' }),
    content: html`<p class="lead">${text}</p>
      ${count === 0 && reviews.length === 0 && !loved && firstSteps()}
      <div${loved && things.length > 0 && html` class="front"`}>
        ${loved && lovedSection(loved, names.at(-1))}
        ${things.length > 0 && talkedAbout(things)}
      </div>
      <div class="desk">
        ${reviews.length > 0 && newestReviews(listByThing(listed))}
        <section>
          ${count > 0 && html`<p class="soft">${counted(count, 'review')} · ${counted(people, 'member')}</p>`}
          <ul class="row">
            <li><a href="${authUrl()}/help">How it works</a></li>
          </ul>
          ${developers((reviews[0] ?? loved)?.review.entity_id)}
        </section>
      </div>`,
  };
});

/** First steps on a new site. */
function firstSteps() {
  return html`${nothingYet('Nobody has written a review yet.', toFind('Write the first review'))}
    <ol>
      <li>Find ${oneThing()} by its name.</li>
      <li>Give it stars, write what you think of it, or both.</li>
      <li>Others read it here, and say whether it helped them.</li>
    </ol>`;
}

/** A review that readers love, quoted large. */
function lovedSection(
  loved: NonNullable<Awaited<ReturnType<typeof findFrontReviews>>['loved']>,
  metadata: Metadata | null | undefined,
) {
  return html`<section>
    <h2>${loved.isOfWeek ? 'Best-loved this week' : 'Loved by readers'}</h2>
    ${lovedReview(loved, metadata)}
  </section>`;
}

function talkedAbout(things: readonly FoundThing[]) {
  return html`<section>
    <h2>What people talk about</h2>
    ${thingShelf(things)}
    <ul class="row">
      <li><a href="${authUrl()}/things">Everything that has reviews</a></li>
    </ul>
  </section>`;
}

function newestReviews(list: Html) {
  return html`<section>
    <h2>Newest reviews</h2>
    ${list}
    <ul class="row">
      <li><a href="${authUrl()}/reviews">More new reviews</a></li>
      <li><a href="${authUrl()}/reviews?sort=popularity">Most popular reviews</a></li>
    </ul>
  </section>`;
}

/** The service for developers, folded. The guides have the rest. */
function developers(example?: string) {
  const base = authUrl();
  const path = example ? `entity/${example}` : 'review/?limit=3';
  return html`<details>
    <summary>For developers</summary>
    <p>
      Show what people think of things on your own website. Let your readers write about it, and
      keep their reviews when they move on. Reading needs no key:
    </p>
    <p><code class="copy">curl "${base}${version}/${path}"</code></p>
    <ul class="row">
      <li><a href="${base}/docs">Read the guides</a></li>
      <li><a href="${base}/docs/api">Look up an endpoint</a></li>
      <li><a href="${base}/account/tokens">Get a personal access token</a></li>
      ${process.env.SOURCE_URL && html`<li><a href="${process.env.SOURCE_URL}">See the source code</a></li>`}
    </ul>
  </details>`;
}

/** A count with its noun, and a space between thousands: Intl would cost a cold start. */
function counted(count: number, noun: string) {
  const grouped = `${count}`.replaceAll(/\B(?=(\d{3})+$)/g, '\u202f');
  return `${grouped} ${noun}${count === 1 ? '' : 's'}`;
}
