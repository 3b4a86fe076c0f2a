import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { feedUrl } from '../../shared/base/links.ts';
import { findMetadata } from '../../shared/core/entity/metadata.ts';
import { UserPath } from '../../shared/core/http/request.ts';
import { ratingsIn } from '../../shared/core/review/owner-counts.ts';
import { getUser } from '../../shared/core/user/user-repository.ts';
import { userTypeOf } from '../../shared/core/user/user-type.ts';
import { headOf } from '../../shared/pages/frame/head.ts';
import { nothingYet, toFind } from '../../shared/pages/frame/next-steps.ts';
import { nameWithRole, personTop } from '../../shared/pages/frame/person.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';
import { dayOf, nameOfType } from '../../shared/pages/frame/words.ts';
import { favourites } from '../../shared/pages/review/favourites.ts';
import { histogram } from '../../shared/pages/review/histogram.ts';
import {
  listParameters,
  readReviews,
  reviewCount,
  reviewSection,
} from '../../shared/pages/review/review-list.ts';
import { readVotes } from '../../shared/pages/review/vote-form.ts';

export const request = v.object({ path: UserPath, query: v.object(listParameters) });

export const handler = visitedPage(request, async ({ path: { user_id }, query }, reading) => {
  const [user, list] = await Promise.all([getUser(user_id), readReviews({ user_id }, query)]);
  const { display_name: name, created } = user;
  const type = userTypeOf(user);
  const visitor = await reading;
  const isOwn = visitor?.user.id === user_id;
  const [metadata, votes] = await Promise.all([
    findMetadata(list.reviews.map(({ review }) => review)),
    isOwn ? undefined : readVotes(visitor, list.reviews),
  ]);
  const path = `/user/${user_id}`;
  return {
    title: name,
    top: personTop(user, nameWithRole(user), html`Member since ${dayOf(created)}`),
    description: `${reviewCount(list.count)} by ${name}.`,
    head: headOf({
      path,
      type: 'profile',
      feed: `Reviews by ${name}`,
      isUnlisted: list.count === 0,
    }),
    isWide: true,
    content: html`<div class="columns">
        <div>
          ${isOwn && html`<section><p>This is your page as others see it. <a href="${authUrl()}/account">Go to your account</a></p></section>`}
          ${list.counts && histogram(ratingsIn(list.counts), { title: 'Stars given', caption: 'Stars given' })}
        </div>
        <div>
          ${query.cursor === undefined && favourites(list, metadata)}
          ${
            list.count === 0
              ? noReviews(isOwn)
              : reviewSection(authUrl() + path, query, list, {
                  isOfOneAuthor: true,
                  metadata,
                  votes,
                })
          }
        </div>
        <section>
          <dl>
            <dt>Karma</dt><dd>${user.karma} <a href="${authUrl()}/help#karma">What is karma?</a></dd>
            <dt>Called</dt><dd>${nameOfType(type)}${user.blocked_at === undefined && html` <span class="soft">(by karma: may vote on ${type.votes_per_day} reviews a day)</span>`}</dd>
          </dl>
          <p><a href="${feedUrl({ user_id })}">Atom feed of the reviews</a></p>
        </section>
      </div>`,
  };
});

function noReviews(isOwn: boolean) {
  const browse = { href: `${authUrl()}/reviews`, text: 'Read reviews by others' };
  return nothingYet('No reviews yet.', ...(isOwn ? [toFind(), browse] : [browse]));
}
