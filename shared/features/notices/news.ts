// The letter about decisions on what a person wrote. It says what that person may see by now.
import { authUrl } from '../../base/auth-url.ts';
import { getItems } from '../../base/table/batch.ts';
import { parseItems } from '../../base/table/parse.ts';
import { findMetadata } from '../../core/entity/metadata.ts';
import { reviewKey } from '../../core/keys.ts';
import { isHeld, isPublic, Review } from '../../core/review/review.ts';
import { newsName } from '../../core/user/news.ts';
import type { Notice, NoticeKind } from '../../core/user/notice.ts';
import type { User } from '../../core/user/user.ts';
import { type Letter, type Line, quoted } from './letter.ts';
import { newsLine } from './pages/news.ts';
import { drop, noteLost, postpone, readDue } from './queue.ts';
import type { Mailing } from './send.ts';

/** Decisions that a mail tells one by one. Its reader finds the others on the account page. */
const mostLines = 10;

/** Returns the decisions that are due, as a mail to each person. */
export async function dueNews(): Promise<Mailing[]> {
  return [...(await readDue())].map(([user_id, queued]) => {
    const notices = queued.map(({ notice }) => notice);
    const first = Math.min(...notices.map(({ created_at }) => created_at));
    return {
      user_id,
      kind: 'news',
      name: `${first}`,
      age: Date.now() - first,
      compose: ({ user }) => newsLetter(user, notices),
      async finish({ isLost }) {
        if (isLost) noteLost(queued.length);
        await drop(queued);
      },
      postpone: (due_at) => postpone(queued, due_at),
    };
  });
}

/** Returns the letter, or undefined if there is nothing to tell any more. */
async function newsLetter(user: User, notices: readonly Notice[]): Promise<Letter | undefined> {
  // What the account page has shown is no news any more.
  const unread = notices.filter(({ kind }) => (user[newsName(kind)] ?? 0) > 0);
  const lines = [...(await reviewLines(user, unread)), ...otherLines(unread)];
  if (lines.length === 0) return undefined;
  const shown = lines.slice(0, mostLines);
  const others = lines.length - shown.length;
  if (others > 0) {
    shown.push({ text: `And ${others} more decisions.`, url: `${authUrl()}/account/reviews` });
  }
  return { subject: 'News about your contributions', lines: shown };
}

/** Tells the last decision on each review, if the review is still as it says. */
async function reviewLines(user: User, notices: readonly Notice[]): Promise<Line[]> {
  const byReview = Map.groupBy(notices, ({ review_id }) => review_id);
  const ids = [...byReview.keys()].filter((id) => id !== undefined);
  const items = await getItems(ids.map(reviewKey), { consistent: true });
  const reviews = parseItems(Review, items);
  const told = reviews.flatMap((review) => {
    const own = byReview.get(review.id) ?? [];
    // After a dismissed report, the decision before still holds.
    const last = own.find(({ kind }) => kind === review.moderation?.decision) ?? own.at(-1);
    return last && isStill(last.kind, review) ? [{ kind: last.kind, review }] : [];
  });
  const viewer = { id: user.id, isModerator: false };
  const things = await findMetadata(
    told.map(({ review }) => review),
    viewer,
  );
  return told.map(({ kind, review }, i) => {
    const { text } = newsLine(kind, 1);
    const name = things[i]?.name;
    const url = `${authUrl()}/review/${review.id}`;
    return { text: name === undefined ? text : `${quoted(name)}: ${text}`, url };
  });
}

/** Returns true if a decision still says how the review is. */
function isStill(kind: NoticeKind, review: Review): boolean {
  if (review.deleted_at !== undefined) return false;
  const isHidden = review.is_hidden && !isHeld(review);
  if (kind === 'hide' || kind === 'uphold') return isHidden;
  return isPublic(review);
}

/** Tells what is about no review. */
function otherLines(notices: readonly Notice[]): Line[] {
  const others = notices.filter(({ review_id }) => review_id === undefined);
  return [...Map.groupBy(others, ({ kind }) => kind)].map(([kind, own]) => {
    const { text, path } = newsLine(kind, own.length);
    return { text, url: `${authUrl()}${path || '/account'}` };
  });
}
