import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import { version } from '../routes.ts';
import type { Page } from './html-response.ts';

/** What the service is, and where a developer begins. */
export function homePage(): Page {
  const at = authUrl();
  const baseUrl = `${at}${version}`;
  return {
    title: 'Open reviews',
    content: html`<section>
        <p>
          People’s reviews of albums, events, books and more, for every website and program: read them, publish them, vote on them.
          All of it is a JSON API, open to everybody; what is done in a person’s name needs that person’s consent (OAuth 2.0).
        </p>
      </section>
      <section>
        <h2>Begin here</h2>
        <h3>Base URL</h3>
        <p><code class="copy">${baseUrl}</code></p>
        <h3>The newest reviews</h3>
        <p><code class="copy">curl "${baseUrl}/review/?limit=3"</code></p>
        <h3>A first one of your own</h3>
        <p>Get <a href="${at}/account/tokens">a personal access token</a>: no application is needed for a script of yours.</p>
      </section>
      <section>
        <h2>Go on</h2>
        <ul>
          <li><a href="${at}/docs/api">Reference</a>: every endpoint, to read and to try</li>
          <li><a href="${baseUrl}/openapi.json">OpenAPI description</a>, to make a client from</li>
          <li><a href="${at}/account/applications">Applications</a>: register one that acts for people</li>
          <li><a href="${at}/account">Your account</a></li>
          ${source()}
        </ul>
      </section>`,
  };
}

/** Where the source of the service is, if whoever deployed it said so. */
function source() {
  const url = process.env.SOURCE_URL;
  return url && html`<li><a href="${url}">Source code</a></li>`;
}
