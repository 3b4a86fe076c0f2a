import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/auth-url.ts';
import { findMetadata } from '../../shared/entity/metadata.ts';
import { readLength } from '../../shared/list/totals.ts';
import { headOf } from '../../shared/pages/frame/head.ts';
import type { Html } from '../../shared/pages/frame/layout.ts';
import { type NextStep, nextSteps } from '../../shared/pages/frame/next-steps.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';
import { reviewCard } from '../../shared/pages/review/review-card.ts';
import { countReviews, findHighlights } from '../../shared/review/review-list.ts';
import { version } from '../../shared/routes.ts';
import { site } from '../../shared/site/site.ts';

const description =
  'People’s reviews of albums, events, books and more. Read them, publish them and vote on them from any website or program.';

/** Reviews of each kind that the page shows. */
const shown = 3;

export const handler = visitedPage(v.object({}), async () => {
  const [{ popular, newest }, count, people] = await Promise.all([
    findHighlights(shown),
    countReviews(),
    readLength('users'),
  ]);
  const { name, isNamed, text = description } = site();
  const reviews = [...popular, ...newest];
  const metadata = await findMetadata(reviews.map(({ review }) => review));
  const cards = reviews.map((each, i) => reviewCard(each, { metadata: metadata[i] }));
  return {
    title: isNamed ? name : 'Open reviews',
    description: text,
    isWide: true,
    head: headOf({ path: '/', apiPath: false, type: 'website' }),
    content: html`<section>
        <p class="lead">${text}</p>
        <dl class="numbers">
          <div><dt>${count === 1 ? 'review' : 'reviews'}</dt><dd class="number">${grouped(count)}</dd></div>
          <div><dt>${people === 1 ? 'person' : 'people'}</dt><dd class="number">${grouped(people)}</dd></div>
        </dl>
        ${count === 0 && reviews.length === 0 && html`<p>Nobody has written a review yet.</p>`}
        ${nextSteps(...waysFrom(reviews.length))}
      </section>
      ${cardSection('Worth reading', '?sort=popularity', 'More popular reviews', cards.slice(0, popular.length))}
      ${cardSection('What people wrote last', '', 'More new reviews', cards.slice(popular.length))}
      ${developers(reviews[0]?.review.entity_id)}`,
  };
});

/** Ways to go on. An empty service has nothing to browse. */
function waysFrom(count: number): NextStep[] {
  const find = { href: `${authUrl()}/find`, text: 'Find something to review' };
  if (count === 0) return [{ ...find, text: 'Write the first review' }];
  return [{ href: `${authUrl()}/reviews`, text: 'Read all reviews' }, find];
}

function cardSection(title: string, query: string, more: string, cards: readonly Html[]) {
  if (cards.length === 0) return '';
  return html`<section>
    <h2>${title}</h2>
    <div class="cards">${cards}</div>
    <p><a href="${authUrl()}/reviews${query}">${more}</a></p>
  </section>`;
}

/** The service for developers, in one block. The guides have the rest. */
function developers(example?: string) {
  const base = authUrl();
  const path = example ? `entity/${example}` : 'review/?limit=3';
  return html`<section>
    <h2>For developers</h2>
    <p>
      Show what people think of an album on your own website. Let your readers write about it, and
      keep their reviews when they move on. Reading needs no key:
    </p>
    <p><code class="copy">curl "${base}${version}/${path}"</code></p>
    <div class="buttons">
      <a class="button quiet" href="${base}/docs">Read the guides</a>
      <a class="button quiet" href="${base}/docs/api">Look up an endpoint</a>
      <a class="button quiet" href="${base}/account/tokens">Get a personal access token</a>
      ${process.env.SOURCE_URL && html`<a class="button quiet" href="${process.env.SOURCE_URL}">See the source code</a>`}
    </div>
  </section>`;
}

/** A number with a space between thousands, without Intl, which costs a cold start. */
function grouped(count: number) {
  return `${count}`.replaceAll(/\B(?=(\d{3})+$)/g, '\u202f');
}
