// The frame of every page: head, header and footer around its content.
import { html, raw } from 'hono/html';
import { site } from '../../base/site/site.ts';
import { footer } from './footer.ts';
import { header } from './header.ts';
import type { Html, Page, Visitor } from './layout.ts';
import { icon, mark } from './mark.ts';
import { style } from './style.ts';
import { titleInTab } from './title.ts';

/** A whole page. */
export function framed(page: Page, visitor?: Visitor): Html {
  const { title, content, description, next, isWide, head: more } = page;
  const { name } = site();
  const isBare = page.isDecision || page.isLast;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${next && html`<meta http-equiv="refresh" content="0; url=${next}">`}
<title>${titleInTab(title)}</title>
${description && about(title, description)}${more}<link rel="icon" href="${icon()}">
<style>${raw(style().text)}</style>
</head>
<body${isWide && html` class="wide"`}>
${isBare ? html`<header><span class="brand">${mark()}${name}</span></header>` : header(page, visitor)}
<main id="main">
${page.top ?? html`<h1>${page.heading ?? title}</h1>`}
${content}
</main>
${!isBare && footer()}
</body>
</html>`;
}

function about(title: string, description: string) {
  return html`<meta name="description" content="${description}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
`;
}
