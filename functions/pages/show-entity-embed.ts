import { html, raw } from 'hono/html';
import * as v from 'valibot';
import { site } from '../../shared/base/site/site.ts';
import { EntityPath } from '../../shared/core/http/request.ts';
import { readNamedEntity, Theme } from '../../shared/pages/entity/named-entity.ts';
import { securityHeaders } from '../../shared/pages/frame/html-response.ts';
import { publicDocument } from '../../shared/pages/frame/public-page.ts';
import { stars } from '../../shared/pages/frame/stars.ts';
import { colours, coloursOf, sourceOf } from '../../shared/pages/frame/style.ts';
import { titleInTab } from '../../shared/pages/frame/title.ts';
import { reviewCount } from '../../shared/pages/review/review-list.ts';

const layout = `
* { box-sizing: border-box; margin: 0; }
body { height: 100vh; background: var(--paper); color: var(--ink); font: 15px/1.4 system-ui, sans-serif; }
a { display: flex; flex-direction: column; justify-content: center; gap: .25rem; height: 100%;
  padding: .5rem 1rem; border: 1px solid var(--line); border-radius: 10px; color: inherit;
  text-decoration: none; }
a:focus-visible { outline: 3px solid var(--accent); outline-offset: -3px; }
.name { overflow: hidden; white-space: nowrap; text-overflow: ellipsis; font-weight: 600; }
.rating { display: flex; align-items: center; gap: .6rem; font-size: 1.5rem; font-weight: 700; }
.stars { width: 6.5rem; height: 1.3rem; fill: var(--line); }
.stars svg { fill: var(--star); }
.soft { color: var(--soft); font-weight: 400; }
.soft span { color: var(--accent); text-decoration: underline; }
`;

export const request = v.object({
  path: EntityPath,
  query: v.object({ theme: Theme }),
});

export const handler = publicDocument(request, async ({ path, query: { theme } }) => {
  const style = (theme ? coloursOf(theme) : colours()) + layout;
  const { url, name, title, summary, metadata } = await readNamedEntity(path.entity_id);
  const { rating } = summary.average_rating;
  const body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${titleInTab(title)}</title>
<style>${raw(style)}</style>
</head>
<body>
<a href="${url}" target="_top">
<span class="name"><bdi>${name}</bdi>${metadata?.about && html` <bdi class="soft">${metadata.about}</bdi>`}</span>
${rating !== null && html`<span class="rating">${rating} ${stars(rating)}</span>`}
<span class="soft">${summary.review_count > 0 && html`<span>${reviewCount(summary.review_count)}</span> on `}${site().name}</span>
</a>
</body>
</html>`;
  const headers = securityHeaders([`style-src ${sourceOf(style)}`], { isFramed: true });
  return { headers, body: `${body}` };
});
