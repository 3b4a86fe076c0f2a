import { html, raw } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import type { User } from '../user/user.ts';
import { canModerate } from '../user/user-type.ts';
import { icon, mark } from './brand.ts';
import { style } from './style.ts';

/** Markup in which every inserted value has been escaped. */
export type Html = ReturnType<typeof html>;

/** Who is signed in. `csrf` goes into every form, and `here` is the way back to the page. */
export interface Visitor {
  user: User;
  csrf: string;
  here: string;
  /** Number of open cases, for moderators. */
  openCases?: string | undefined;
}

/** A page, and what frames it. */
export interface Frame {
  title: string;
  /** Heading with markup in it, where that is not the title. */
  heading?: Html | undefined;
  content: Html;
  description?: string | undefined;
  /** Who gets a menu. */
  visitor?: Visitor | undefined;
  /** Set where nothing shall lead away: one has to decide first, or has just left. */
  isBare?: boolean | undefined;
  /** Where the browser goes on to at once. */
  next?: string | undefined;
  /** Set for tables and pages with a column beside the text. */
  isWide?: boolean | undefined;
  /** More for the head: other forms of the page, data for search engines. */
  head?: Html | undefined;
}

/** The pages in the menu, below {auth_url}. */
const menu = [
  ['/account', 'Account'],
  ['/account/reviews', 'Your reviews'],
  ['/account/connections', 'Connections'],
  ['/account/applications', 'Applications'],
] as const;

/** What the foot of a page leads to, below {auth_url}. */
const links = [
  ['/', 'About'],
  ['/docs', 'For developers'],
  ['/account', 'Your account'],
] as const;

/** The hidden field that shows a form to be ours. */
export function csrfField(csrf: string): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}">`;
}

/** A whole page. */
export function layout(frame: Frame): Html {
  const { title, heading, content, description, visitor, isBare, next, isWide, head: more } = frame;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${next && html`<meta http-equiv="refresh" content="0; url=${next}">`}
<title>${title} · Reviews</title>
${description && about(title, description)}${more}<link rel="icon" href="${icon}">
<style>${raw(style)}</style>
</head>
<body${isWide && html` class="wide"`}>
<header>${isBare ? html`<span class="brand">${mark}Reviews</span>` : head(visitor)}</header>
<main>
<h1>${heading ?? title}</h1>
${content}
</main>
${!isBare && foot()}
</body>
</html>`;
}

/** For search engines, and for the previews of links (Open Graph). */
function about(title: string, description: string): Html {
  return html`<meta name="description" content="${description}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
`;
}

function head(visitor: Visitor | undefined): Html {
  return html`<a class="brand" href="${authUrl()}/">${mark}Reviews</a>${visitor && menuOf(visitor)}`;
}

function menuOf({ user, csrf, here, openCases }: Visitor): Html {
  const at = authUrl();
  const { pathname } = new URL(here);
  const pathOf = (path: string) => new URL(at + path).pathname;
  const moderation = ['/account/moderation', `Moderation (${openCases})`] as const;
  const pages = canModerate(user) ? [...menu, moderation] : menu;
  // The account is above the others, so that the last one is it.
  const current = pages.findLast(([path]) => `${pathname}/`.startsWith(`${pathOf(path)}/`))?.[0];
  const isIt = (path: string) => (pathname === pathOf(path) ? 'page' : 'true');
  return html`<bdi class="who">${user.display_name}</bdi>
    <form method="post" action="${at}/account/sign-out">
      ${csrfField(csrf)}<button class="link">Sign out</button>
    </form>
    <nav aria-label="Main">
      ${pages.map(
        ([path, name]) =>
          html`<a href="${at}${path}"${path === current && html` aria-current="${isIt(path)}"`}>${name}</a>`,
      )}
    </nav>`;
}

function foot(): Html {
  const at = authUrl();
  return html`<footer>
    <nav aria-label="More">${links.map(([path, name]) => html`<a href="${at}${path}">${name}</a>`)}</nav>
  </footer>`;
}
