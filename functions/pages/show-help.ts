import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { userTypes } from '../../shared/core/user/user-type.ts';
import { oneThing } from '../../shared/pages/entity/shown-groups.ts';
import { headOf } from '../../shared/pages/frame/head.ts';
import { rowsUnder } from '../../shared/pages/frame/lists.ts';
import { askOperator } from '../../shared/pages/frame/operator.ts';
import { linkToRules } from '../../shared/pages/frame/own-pages.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';
import { nameOfType } from '../../shared/pages/frame/words.ts';

/** The user types by karma, as rows of a table. */
const levels = userTypes.map((type, i) => {
  const karma = i === 0 ? `below ${userTypes[1].from}` : `from ${type.from} on`;
  return [nameOfType(type), karma, `${type.votes_per_day}`];
});

/** Help for members: reading, writing and voting, without a word for programs. */
export const handler = visitedPage(v.object({}), async () => {
  const base = authUrl();
  return {
    title: 'Help',
    description: 'Write reviews, vote on them, report them, and leave with all that is yours.',
    head: headOf({ path: '/help', type: 'website' }),
    content: html`<section>
        <h2>Write a review</h2>
        <p><a href="${base}/find">Search</a> for ${oneThing()}, and choose “Write a review”. Give stars, a text of 25 to 5000 characters, or both. You have one review of each thing, and can change it at any time: earlier versions stay readable.</p>
        <p>A draft is seen by you alone. The language and the licence cannot be changed after you publish.</p>
        ${linkToRules()}
      </section>
      <section>
        <h2>Choose a licence</h2>
        <p>A licence says what others may do with your review, for example copy it into a magazine. You keep your rights. Once given, a licence cannot be taken back from those who have a copy.</p>
      </section>
      <section>
        <h2>Say what was helpful</h2>
        <p>“Yes” and “No” below a review are votes. You have one on each review, and can change it or take it back. Nobody sees who voted.</p>
      </section>
      <section id="karma">
        <h2>Karma</h2>
        <p>The karma of an author is the number of “Yes” minus the number of “No” on all reviews of that author. With more karma one votes on and reports more reviews in a day. “No” votes of others take nothing away that a new member has:</p>
        ${rowsUnder(['Called', 'Karma', 'Votes a day'], levels, html``)}
      </section>
      <section>
        <h2>Report a review</h2>
        <p>Every review has a link to report it. A moderator reads the report and decides. The author does not learn who reported. If a review of yours is hidden, your account says why, and you can appeal once.</p>
      </section>
      <section>
        <h2>Take your data, or leave</h2>
        <p>Your <a href="${base}/account">account</a> has a file with everything about you. There you can also delete the account with all that you wrote.</p>
        <p>Reviews that you have written at Letterboxd, Goodreads or StoryGraph <a href="${base}/account/files">come with you</a>.</p>
        <p>Anything else? Please ${askOperator()}.</p>
      </section>`,
  };
});
