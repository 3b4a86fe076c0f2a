import { html, raw } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import { atomType } from '../feed/link.ts';
import { version } from '../routes.ts';
import type { Html } from './layout.ts';

/** What browsers, feed readers and search engines find in the head of a public page. */
interface Head {
  /** Address below {auth_url}, which is the same in the API below its version. */
  path: string;
  /** Type of the page in the Open Graph protocol. */
  type: 'article' | 'profile' | 'website';
  /** Title of the Atom feed, where there is one. */
  feed?: string;
  /** More of these links. */
  alternates?: readonly { type: string; href: string; title?: string }[];
  /** Structured data (schema.org), if enough is known for it. */
  data?: object | undefined;
  /** Set for a page that search engines shall not show. */
  isUnlisted?: boolean;
}

/** The head of a public page beside its title and description. */
export function headOf({ path, type, feed, alternates = [], data, isUnlisted }: Head): Html {
  const [page, api] = [authUrl() + path, authUrl() + version + path];
  const all = [
    { type: 'application/json', href: api },
    ...(feed ? [{ type: atomType, href: `${api}/reviews.atom`, title: feed }] : []),
    ...alternates,
  ];
  return html`<link rel="canonical" href="${page}">
${all.map(({ type, href, title }) => html`<link rel="alternate" type="${type}" href="${href}"${title && html` title="${title}"`}>\n`)}<meta property="og:url" content="${page}">
<meta property="og:type" content="${type}">
${isUnlisted && html`<meta name="robots" content="noindex">\n`}${data && html`<script type="application/ld+json">${inScript(data)}</script>\n`}`;
}

/** JSON that ends no script element, and no line of a script. */
function inScript(data: object): Html {
  const escaped = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return raw(JSON.stringify(data).replaceAll(/[<>&\u2028\u2029]/g, escaped));
}
