// News for a person, on the account page.
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import { type News, type NewsKind, unreadNews } from '../../../core/user/news.ts';
import type { Html } from '../../../pages/frame/layout.ts';

/** Words for one piece of news and for several, and the page that says more. */
const lines: Readonly<Record<NewsKind, readonly [one: string, more: string, path: string]>> = {
  hide: [
    'A moderator has hidden a review of yours.',
    'Moderators have hidden reviews of yours:',
    '/account/reviews',
  ],
  approve: [
    'A moderator has approved a review of yours. It is public now.',
    'Moderators have approved reviews of yours, which are public now:',
    '/account/reviews',
  ],
  restore: [
    'A review of yours is public again.',
    'Reviews of yours are public again:',
    '/account/reviews',
  ],
  uphold: [
    'Your appeal was decided: the review stays hidden.',
    'Your appeals were decided. Reviews that stay hidden:',
    '/account/reviews',
  ],
  refuse: [
    'A moderator has refused an edit of yours. The review stays as it was.',
    'Moderators have refused edits of yours:',
    '/account/reviews',
  ],
  webhook: [
    'A webhook of yours was turned off.',
    'Webhooks of yours that were turned off:',
    '/account/applications',
  ],
  name: [
    'A name that you gave was corrected or removed.',
    'Names that you gave and that were corrected or removed:',
    '',
  ],
  accept: [
    'A moderator has accepted a correction of yours.',
    'Moderators have accepted corrections of yours:',
    '/account/names',
  ],
  decline: [
    'A moderator has declined a correction of yours.',
    'Moderators have declined corrections of yours:',
    '/account/names',
  ],
};

/** Pages that say more, as people call them. */
const pages: Readonly<Record<string, string>> = {
  '/account/reviews': 'your reviews',
  '/account/applications': 'your applications',
  '/account/names': 'your corrections',
};

/** The unread news, as a section of the account page. Empty if there are none. */
export function newsSection(user: News): Html | '' {
  const unread = unreadNews(user);
  if (unread.length === 0) return '';
  return html`<section>
    <h2>News</h2>
    <ul>${unread.map(([kind, count]) => html`<li>${line(kind, count)}</li>`)}</ul>
  </section>`;
}

/** Returns the sentence for so many news of a kind, and the path of the page that says more. */
export function newsLine(kind: NewsKind, count: number): { text: string; path: string } {
  const [one, more, path] = lines[kind];
  return { text: count === 1 ? one : `${more} ${count}.`, path };
}

function line(kind: NewsKind, count: number) {
  const { text, path } = newsLine(kind, count);
  return html`${text}${path && html` <a href="${authUrl()}${path}">See ${pages[path]}</a>`}`;
}
