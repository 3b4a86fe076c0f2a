// The frame of every page: head, menu and footer.
import { html, raw } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import { countNews } from '../../user/news.ts';
import type { User } from '../../user/user.ts';
import { canModerate } from '../../user/user-type.ts';
import { style } from './style.ts';

/** Markup with all inserted values escaped. */
export type Html = ReturnType<typeof html>;

/** The signed-in person. `csrf` goes into every form, and `here` is the address of the page. */
export interface Visitor {
  user: User;
  csrf: string;
  here: string;
  /** Number of open cases, for moderators. */
  openCases?: number;
}

/** A page for people. */
export interface Page {
  title: string;
  /** Heading with markup, if it differs from the title. */
  heading?: Html;
  content: Html;
  /** For search engines and for previews of links. */
  description?: string;
  /** Address outside the service to open next. The form policy forbids to redirect a form there. */
  next?: string;
  /** Set for tables and pages with a column beside the text. */
  isWide?: boolean;
  /** More for the head: alternate formats, data for search engines. */
  head?: Html;
  status?: number;
  cookies?: readonly string[];
  headers?: Readonly<Record<string, string>>;
  /**
   * Set for a decision whose answer may redirect to a client. Leaves out the menu, so that nobody
   * leaves by mistake, and the form policy, because it also holds for redirects.
   */
  isDecision?: boolean;
  /** Address of the page, without parameters that it does not read. */
  here?: string;
  /** Address to sign in and return to the page, if its reader is known to be signed out. */
  signIn?: string;
  /** Set at the end of a session. Leaves out the menu and asks for nothing. */
  isLast?: boolean;
}

/** A star in a speech bubble, on a field of 32 by 32. */
const bubble = 'M6 2h20a5 5 0 0 1 5 5v13a5 5 0 0 1-5 5H16l-8 6v-6H6a5 5 0 0 1-5-5V7a5 5 0 0 1 5-5z';
const star =
  'M16 6.4L17.8 11.2L22.8 11.4L18.9 14.5L20.2 19.4L16 16.6L11.8 19.4L13.1 14.5L9.2 11.4L14.2 11.2z';

const mark = raw(
  `<svg class="mark" viewBox="0 0 32 32" width="36" height="36" aria-hidden="true"><path fill="var(--accent)" d="${bubble}"/><path fill="var(--paper)" d="${star}"/></svg>`,
);

/** Mark for the browser tab, as SVG. */
export const iconImage = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#2f55d4" d="${bubble}"/><path fill="#fff" d="${star}"/></svg>`;

/** The mark inline, because /favicon.ico may belong to another service. */
export const icon = `data:image/svg+xml,${encodeURIComponent(iconImage)}`;

/** The same on every page. */
const mainMenu = [
  ['/reviews', 'Browse'],
  ['/find', 'Find'],
  ['/docs', 'Guides'],
] as const;

/** Behind the account, whose name has the number of news. */
const menu = [
  ['/account/reviews', 'Your reviews'],
  ['/account/connections', 'Connections'],
  ['/account/applications', 'Applications'],
] as const;

/** The CSRF token of a form. */
export function csrfField(csrf: string): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}">`;
}

/** A whole page. */
export function layout(page: Page, visitor?: Visitor): Html {
  const { title, heading, content, description, next, isWide, head: more } = page;
  const isBare = page.isDecision || page.isLast;
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
<header>${isBare ? html`<span class="brand">${mark}Reviews</span>` : head(page, visitor)}</header>
<main>
<h1>${heading ?? title}</h1>
${content}
</main>
${!isBare && foot()}
</body>
</html>`;
}

function about(title: string, description: string) {
  return html`<meta name="description" content="${description}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
`;
}

function head({ here, signIn }: Page, visitor?: Visitor) {
  const base = authUrl();
  return html`<a class="brand" href="${base}/">${mark}Reviews</a>
    ${visitor ? identity(visitor) : html`<a class="enter" href="${signIn ?? `${base}/account`}">${signIn ? 'Sign in' : 'Your account'}</a>`}
    <div class="menus">
      ${linksOf('Main', mainMenu, visitor?.here ?? here)}
      ${visitor && linksOf('Your account', accountMenu(visitor), visitor.here)}
    </div>`;
}

function identity({ user, csrf }: Visitor) {
  return html`<bdi class="who">${user.display_name}</bdi>
    <form method="post" action="${authUrl()}/account/sign-out">
      ${csrfField(csrf)}<button class="link">Sign out</button>
    </form>`;
}

type Menu = readonly (readonly [path: string, name: string])[];

function accountMenu({ user, openCases }: Visitor): Menu {
  const news = countNews(user);
  const own: Menu = [['/account', `Account${news > 0 ? inBrackets(news) : ''}`], ...menu];
  if (!canModerate(user)) return own;
  return [...own, ['/account/moderation', `Moderation${inBrackets(openCases)}`]];
}

/** A number of the menu. A public page does not count open cases. */
function inBrackets(count?: number): string {
  if (count === undefined) return '';
  return count < 100 ? ` (${count})` : ' (99+)';
}

function linksOf(label: string, pages: Menu, here = '') {
  const base = authUrl();
  const pathname = URL.parse(here)?.pathname ?? '';
  const pathOf = (path: string) => new URL(base + path).pathname;
  // The account is above the others, so that the last one is it.
  const current = pages.findLast(([path]) => `${pathname}/`.startsWith(`${pathOf(path)}/`))?.[0];
  const isIt = (path: string) => (pathname === pathOf(path) ? 'page' : 'true');
  return html`<nav aria-label="${label}">
        ${pages.map(
          ([path, name]) =>
            html`<a href="${base}${path}"${path === current && html` aria-current="${isIt(path)}"`}>${name}</a>`,
        )}
      </nav>`;
}

function foot() {
  const base = authUrl();
  const links = [
    ['/', 'About'],
    ['/docs', 'For developers'],
    ['/account', 'Your account'],
  ] as const;
  return html`<footer>
    <nav aria-label="More">${links.map(([path, name]) => html`<a href="${base}${path}">${name}</a>`)}</nav>
  </footer>`;
}
