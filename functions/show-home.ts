import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { findMetadata } from '../shared/entity/metadata.ts';
import { readLength } from '../shared/list/totals.ts';
import { visitedPage } from '../shared/pages/public-page.ts';
import { reviewCard } from '../shared/pages/review-card.ts';
import { findNewest } from '../shared/review/review-list.ts';
import { version } from '../shared/routes.ts';

const description =
  'People’s reviews of albums, events, books and more. Read them, publish them and vote on them from any website or program.';

export const handler = visitedPage(v.object({}), async () => {
  const [reviews, count, people] = await Promise.all([
    findNewest(3),
    readLength('all'),
    readLength('users'),
  ]);
  const metadata = await findMetadata(reviews.map(({ review }) => review));
  return {
    title: 'Open reviews',
    description,
    isWide: true,
    content: html`<section>
        <p class="lead">${description}</p>
        <dl class="numbers">
          <div><dt>${count === 1 ? 'review' : 'reviews'}</dt><dd class="number">${grouped(count)}</dd></div>
          <div><dt>${people === 1 ? 'person' : 'people'}</dt><dd class="number">${grouped(people)}</dd></div>
        </dl>
      </section>
      ${
        // While the newest reviews are being deleted, there may be none to show.
        (reviews.length > 0 || count === 0) &&
        html`<section>
          <h2>What people wrote last</h2>
          ${
            reviews.length > 0
              ? html`<div class="cards">${reviews.map((each, i) => reviewCard(each, { metadata: metadata[i] }))}</div>`
              : html`<p>Nobody has written a review yet. Publish the first one, as shown below.</p>`
          }
        </section>`
      }
      ${developers(reviews[0]?.review.entity_id)}`,
  };
});

function developers(example?: string) {
  const base = authUrl();
  const baseUrl = `${base}${version}`;
  return html`<section>
    <h2>For developers</h2>
    <p>
      Show what people think of an album on your own website. Let your readers write about it, and
      keep their reviews when they move on.
    </p>
    <ol>
      <li>
        <p>Read reviews. This needs no key.</p>
        <p><code class="copy">curl "${baseUrl}/${example ? `entity/${example}` : 'review/?limit=3'}"</code></p>
      </li>
      <li>
        <p><a href="${base}/account/tokens">Get a personal access token</a>, and publish a review with it.</p>
        <p><code class="copy verbatim">${publication(baseUrl)}</code></p>
      </li>
      <li>
        <p><a href="${base}/account/applications">Register an application</a> that acts for other people, once they allow it.</p>
      </li>
    </ol>
    <div class="buttons">
      <a class="button" href="${base}/docs">Read the guides</a>
      <a class="button quiet" href="${base}/docs/api">Look up an endpoint</a>
      <a class="button quiet" href="${baseUrl}/openapi.json">Get the OpenAPI description</a>
      ${process.env.SOURCE_URL && html`<a class="button quiet" href="${process.env.SOURCE_URL}">See the source code</a>`}
    </div>
  </section>`;
}

/** A command to paste. Its entity is an album of MusicBrainz, “Abbey Road”. */
function publication(baseUrl: string) {
  const review = {
    entity_id: '9162580e-5df4-32de-80cc-f45a8d8a9b1d',
    entity_type: 'release_group',
    rating: 5,
    text: 'The medley alone is worth the price.',
    license_choice: 'CC BY-SA 4.0',
  };
  return `curl "${baseUrl}/review/" -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" -d '${JSON.stringify(review, null, 2)}'`;
}

/** A number with a space between thousands, without Intl, which costs a cold start. */
function grouped(count: number) {
  return `${count}`.replaceAll(/\B(?=(\d{3})+$)/g, '\u202f');
}
