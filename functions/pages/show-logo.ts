import { notFound } from '../../shared/base/errors.ts';
import { siteContent } from '../../shared/base/site/content.ts';
import { Answer, publicAnswer } from '../../shared/core/http/response.ts';
import { browserHandler } from '../../shared/pages/frame/error-page.ts';

/** Sends the logo of the site, in which no script runs. */
export const handler = browserHandler((event) => {
  const { logo } = siteContent();
  if (!logo) throw notFound('Logo');
  const headers = {
    // Its address changes with it.
    'Cache-Control': 'public, max-age=86400',
    'Content-Security-Policy':
      "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox",
    'X-Content-Type-Options': 'nosniff',
  };
  const answer = new Answer(logo, { type: 'image/svg+xml', headers });
  return publicAnswer(answer, event);
});
