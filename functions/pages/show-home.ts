import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/auth-url.ts';
import { findMetadata } from '../../shared/entity/metadata.ts';
import { manyThings } from '../../shared/entity/shown-groups.ts';
import { readLength } from '../../shared/list/totals.ts';
import { headOf } from '../../shared/pages/frame/head.ts';
import type { Html } from '../../shared/pages/frame/layout.ts';
import { nextSteps } from '../../shared/pages/frame/next-steps.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';
import { reviewCard } from '../../shared/pages/review/review-card.ts';
import { countReviews, findHighlights } from '../../shared/review/review-list.ts';
import { version } from '../../shared/routes.ts';
import { site } from '../../shared/site/site.ts';

const description = () =>
  `People’s reviews of ${manyThings()}. Read them, publish them and vote on them from any website or program.`;

/** Reviews of each kind that the page shows. */
const shown = 3;

export const handler = visitedPage(v.object({}), async () => {
  const [{ popular, newest }, count, people] = await Promise.all([
    findHighlights(shown),
    countReviews(),
    readLength('users'),
  ]);
  const { name, isNamed, text = description() } = site();
  const reviews = [...popular, ...newest];
  const metadata = await findMetadata(reviews.map(({ review }) => review));
  const cards = reviews.map((each, i) => reviewCard(each, { metadata: metadata[i] }));
  return {
    title: isNamed ? name : 'Open reviews',
    description: text,
    isWide: true,
    head: headOf({ path: '/', apiPath: false, type: 'website', feed: 'All reviews' }),
    content: html`<section>
        <p class="lead">${text}</p>
        ${count === 0 && reviews.length === 0 && html`<p>Nobody has written a review yet.</p>`}
        ${reviews.length === 0 && nextSteps({ href: `${authUrl()}/find`, text: 'Write the first review' })}
      </section>
      ${cardSection('Worth reading', '?sort=popularity', 'More popular reviews', cards.slice(0, popular.length))}
      ${cardSection('What people wrote last', '', 'More new reviews', cards.slice(popular.length))}
      <section>
        <p class="soft">${counted(count, 'review')} by ${counted(people, 'member')}. <a href="${authUrl()}/help">How it works</a></p>
        ${developers(reviews[0]?.review.entity_id)}
      </section>`,
  };
});

function cardSection(title: string, query: string, more: string, cards: readonly Html[]) {
  if (cards.length === 0) return '';
  return html`<section>
    <h2>${title}</h2>
    <div class="cards">${cards}</div>
    <p><a href="${authUrl()}/reviews${query}">${more}</a></p>
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
