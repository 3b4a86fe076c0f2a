import { html, raw } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import type { User } from '../user/user.ts';
import { canModerate } from '../user/user-type.ts';
import { icon, mark } from './brand.ts';
import { style } from './style.ts';

/** Markup with all inserted values escaped. */
export type Html = ReturnType<typeof html>;

/** The signed-in person. `csrf` goes into every form, and `here` is the address of the page. */
export interface Visitor {
  user: User;
  csrf: string;
  here: string;
  /** Number of open cases, for moderators. */
  openCases?: string | undefined;
}

/** A page and its frame. */
export interface Frame {
  title: string;
  /** The heading, if it has markup that the title cannot have. */
  heading?: Html | undefined;
  content: Html;
  description?: string | undefined;
  /** The person who gets a menu. */
  visitor?: Visitor | undefined;
  /** Removes the menu, for a decision or a farewell. */
  isBare?: boolean | undefined;
  /** The address that the browser opens at once. */
  next?: string | undefined;
  /** A wide page, for tables or a second column. */
  isWide?: boolean | undefined;
  /** More elements for the head: alternates, data for search engines. */
  head?: Html | undefined;
}

/** Menu items, below {auth_url}. */
const menu = [
  ['/account', 'Account'],
  ['/account/reviews', 'Your reviews'],
  ['/account/connections', 'Connections'],
  ['/account/applications', 'Applications'],
] as const;

/** Links in the footer, below {auth_url}. */
const links = [
  ['/', 'About'],
  ['/docs', 'For developers'],
  ['/account', 'Your account'],
] as const;

/** The CSRF token of a form. */
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

/** Description for search engines and for previews of links (Open Graph). */
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
