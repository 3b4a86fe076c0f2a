import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { page } from '../shared/pages/page.ts';
import { version } from '../shared/routes.ts';

export const request = v.object({});

const description =
  'People’s reviews of albums, events, books and more. Read them, publish them and vote on them from any website or program.';

const example = `{
  "count": 1,
  "reviews": [{
    "entity_type": "release_group",
    "rating": 5,
    "text": "Forty minutes that reward every new listen.",
    "user": { "display_name": "Ann", … },
    …
  }],
  …
}`;

/** Page at the service's address: what the service is, and where a developer begins. */
export const handler = page(request, () => {
  const at = authUrl();
  const baseUrl = `${at}${version}`;
  return {
    title: 'Open reviews',
    description,
    content: html`<section>
        <p>${description}</p>
        <p>
          Show what people think of an album on your own website. Let your readers write about it, and keep their reviews when they move
          on. Reading needs no key. To publish or vote in a person’s name, an application asks that person first.
        </p>
      </section>
      <section>
        <h2>Get started</h2>
        <h3>Base URL</h3>
        <p><code class="copy">${baseUrl}</code></p>
        <h3>The newest reviews</h3>
        <p><code class="copy">curl "${baseUrl}/review/?limit=3"</code></p>
        <p>The answer:</p>
        <pre class="verbatim"><code>${example}</code></pre>
        <h3>Publish a review</h3>
        <p>Get <a href="${at}/account/tokens">a personal access token</a>: no application is needed for a script of yours.</p>
      </section>
      <section>
        <h2>Learn more</h2>
        <ul>
          <li><a href="${at}/docs">Guides</a>: from the first request to OAuth, limits and errors</li>
          <li><a href="${at}/docs/api">Reference</a>: every endpoint, to read and to try</li>
          <li><a href="${baseUrl}/openapi.json">OpenAPI description</a>, to make a client from</li>
          <li><a href="${at}/account/applications">Applications</a>: register one that acts for people</li>
          <li><a href="${at}/account">Your account</a></li>
          ${source()}
        </ul>
      </section>`,
  };
});

/** Address of the service's source, if whoever deployed it gave one. */
function source() {
  const url = process.env.SOURCE_URL;
  return url && html`<li><a href="${url}">Source code</a></li>`;
}
