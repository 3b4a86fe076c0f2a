// The header of a page: one row with the name, the search and the account.
import { html, raw } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import { site } from '../../base/site/site.ts';
import { countNews } from '../../core/user/news.ts';
import { canModerate } from '../../core/user/user-type.ts';
import { csrfField, type Html, type Page, type Visitor } from './layout.ts';
import { mark } from './mark.ts';

/** Pages of the account, in the order of its menu. */
const own = [
  ['/account/reviews', 'Your reviews'],
  ['/account/votes', 'Your votes'],
  ['/account', 'Account'],
  ['/account/connections', 'Connections'],
  ['/account/applications', 'Applications'],
] as const;

const lens = raw(
  '<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M8.5 2.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM13 13l5 5"/></svg>',
);

/** Leads past the header, then to the parts of the service and to the person's own pages. */
export function header(
  { here, signIn, search, hasWriting = false }: Page,
  visitor?: Visitor,
): Html {
  const base = authUrl();
  const pathname = URL.parse(visitor?.here ?? here ?? '')?.pathname ?? '';
  return html`<a class="skip" href="#main">Skip to the content</a>
<header>
    <a class="brand" href="${base}/">${mark()}<bdi>${site().name}</bdi></a>
    <nav aria-label="Main">${linksOf([['/reviews', 'Browse']], pathname)}</nav>
    ${searchFor(search)}
    ${!hasWriting && html`<a class="button write" href="${base}/find">Write a review</a>`}
    ${visitor ? account(visitor, pathname) : html`<a class="enter" href="${signIn ?? `${base}/account`}">${signIn ? 'Sign in' : 'Your account'}</a>`}
  </header>`;
}

/** The search. The results of a search have no other field. */
function searchFor({ text = '', type }: Partial<NonNullable<Page['search']>> = {}) {
  return html`<form class="search" role="search" action="${authUrl()}/find">
      <span class="unseen"><label for="search">Search by name</label></span>
      <input type="search" id="search" name="q" value="${text}" maxlength="2000" placeholder="Search">${type && html`<input type="hidden" name="type" value="${type}">`}
      <button aria-label="Search">${lens}</button>
    </form>`;
}

function account({ user, csrf, waiting = 0 }: Visitor, pathname: string) {
  const news = countNews(user);
  const pages = own.map(([path, name]): [string, string] => [
    path,
    path === '/account' && news > 0 ? `${name} (${figure(news)})` : name,
  ]);
  if (canModerate(user)) pages.push(['/account/moderation', `Moderation (${figure(waiting)})`]);
  return html`<details class="who">
      <summary><bdi>${user.display_name}</bdi>${news > 0 && html`<span class="figure">${figure(news)}<span class="unseen"> news</span></span>`}${waiting > 0 && html`<span class="figure">${figure(waiting)}<span class="unseen"> to decide</span></span>`}</summary>
      <div>
        <nav aria-label="Your account">${linksOf(pages, pathname)}</nav>
        <form method="post" action="${authUrl()}/account/sign-out">
          ${csrfField(csrf)}<button class="link">Sign out</button>
        </form>
      </div>
    </details>`;
}

function figure(count: number): string {
  return count < 100 ? `${count}` : '99+';
}

/** The links of a menu. The one with the longest path that leads to the page is marked. */
function linksOf(pages: readonly (readonly [path: string, name: string])[], pathname: string) {
  const above = pages.filter(([path]) => `${pathname}/`.startsWith(`${pathOf(path)}/`));
  const current = Math.max(...above.map(([path]) => path.length));
  return pages.map(([path, name]) => {
    const isCurrent = path.length === current && above.some(([each]) => each === path);
    const mark = isCurrent && (pathname === pathOf(path) ? 'page' : 'true');
    return html`<a href="${authUrl()}${path}"${mark && html` aria-current="${mark}"`}>${name}</a>`;
  });
}

function pathOf(path: string): string {
  return new URL(authUrl() + path).pathname;
}
