import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { version } from '../../shared/base/routes.ts';
import { guides } from '../../shared/features/docs/public.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';

/** Shows the list of guides, and links to the reference. */
export const handler = visitedPage(v.object({}), async () => {
  const base = authUrl();
  return {
    title: 'For developers',
    description: 'Guides and reference: read reviews, publish them and vote on them over HTTP.',
    content: html`<section>
        <h2>Guides</h2>
        <ol>
          ${guides.map(
            ({ slug, title, description }) =>
              html`<li><a href="${base}/docs/${slug}">${title}</a><br><span class="soft">${description}</span></li>`,
          )}
        </ol>
      </section>
      <section>
        <h2>Reference</h2>
        <ul>
          <li><a href="${base}/docs/api">API reference</a>: every endpoint, with a command to copy</li>
          <li><a href="${base}${version}/openapi.json">OpenAPI description</a>: generate a client from it</li>
        </ul>
        <p>Base URL: <code class="copy">${base}${version}</code></p>
      </section>`,
  };
});
