import { html } from 'hono/html';
import { authUrl } from '../../shared/base/auth-url.ts';
import { ownReviews, ownTabs } from '../../shared/features/account/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { CursorQuery, nextPage } from '../../shared/pages/frame/lists.ts';
import { readWritten } from '../../shared/pages/review/review-list.ts';

export const request = signedIn({ query: CursorQuery });

export const handler = page(request, async ({ caller: { user_id }, query }, { visitor }) => {
  const { written, cursor } = await readWritten(user_id, query.cursor, visitor);
  return {
    title: 'Your reviews',
    isWide: true,
    content: html`${ownTabs('reviews')}<section>
      <h2>Newest first</h2>
      ${ownReviews(written, visitor.csrf)}
      ${nextPage(`${authUrl()}/account/reviews`, cursor)}
    </section>`,
  };
});
