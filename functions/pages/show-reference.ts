import { html, raw } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { version } from '../../shared/base/routes.ts';
import { referenceAt } from '../../shared/features/docs/public.ts';
import { beside } from '../../shared/pages/frame/beside.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';

/** Shows the API reference, which is rendered from the OpenAPI description at build time. */
export const handler = visitedPage(v.object({}), async () => {
  const base = authUrl();
  const reference = referenceAt(base);
  return {
    title: 'API reference',
    description: 'Every endpoint with its parameters, answers and errors, and a command to copy.',
    isWide: true,
    content: beside(
      'Contents',
      raw(reference.contents),
      html`<a href="${base}/docs">Guides</a><br><a href="${base}${version}/openapi.json">OpenAPI description</a>`,
      raw(reference.html),
    ),
  };
});
