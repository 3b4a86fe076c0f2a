// The head of a public page.
import { html, raw } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import { atomType } from '../../base/links.ts';
import { version } from '../../base/routes.ts';
import { site } from '../../base/site/site.ts';
import type { Html } from './layout.ts';

/** Another format of a page, for a `link` element. */
interface Alternate {
  type: string;
  href: string;
  title?: string;
}

/** Head content of a public page for browsers, feed readers and search engines. */
interface Head {
  /** Path below {auth_url}. */
  path: string;
  /** Type of the page in the Open Graph protocol. */
  type: 'article' | 'profile' | 'website';
  /** Title of the Atom feed, if there is one: the API has it below the same path. */
  feed?: string;
  alternates?: readonly Alternate[];
  /** Structured data (schema.org), if enough is known for it. */
  data?: object | undefined;
  /** Set to exclude the page from search engines. */
  isUnlisted?: boolean;
}

/** The head of a public page, without its title and description. */
export function headOf({ path, type, feed, ...rest }: Head): Html {
  const { alternates = [], data, isUnlisted } = rest;
  const { name, image } = site();
  const page = authUrl() + path;
  const api = authUrl() + version + path.replace(/\/$/, '');
  // Readers take JSON for a JSON Feed, so the address in the API is not among them.
  const all: Alternate[] = [...alternates];
  if (feed) all.unshift({ type: atomType, href: `${api}/reviews.atom`, title: feed });
  return html`<link rel="canonical" href="${page}">
${all.map(({ type, href, title }) => html`<link rel="alternate" type="${type}" href="${href}"${title && html` title="${title}"`}>\n`)}<meta property="og:url" content="${page}">
<meta property="og:type" content="${type}">
<meta property="og:site_name" content="${name}">
${image && html`<meta property="og:image" content="${image}">\n`}<meta name="twitter:card" content="${image ? 'summary_large_image' : 'summary'}">
${isUnlisted && html`<meta name="robots" content="noindex">\n`}${data && html`<script type="application/ld+json">${inScript(data)}</script>\n`}`;
}

/** Escapes JSON so that it cannot end a script element or a line of a script. */
function inScript(data: object) {
  const escaped = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return raw(JSON.stringify(data).replaceAll(/[<>&\u2028\u2029]/g, escaped));
}
