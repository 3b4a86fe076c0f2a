// The page about an author for moderators: facts, reviews, decisions, and forms to decide.
import { html } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import { nameOfEntityType } from '../../entity/entity-type.ts';
import { notFound } from '../../errors.ts';
import type { Decision } from '../../moderation/decision.ts';
import { findHistory } from '../../moderation/decision-log.ts';
import { listHiddenClaims } from '../../moderation/hidden-claims.ts';
import type { HiddenClaim } from '../../review/hidden-claim.ts';
import { isHeld } from '../../review/review.ts';
import type { User } from '../../user/user.ts';
import { findUsers } from '../../user/user-repository.ts';
import { userTypeOf } from '../../user/user-type.ts';
import { select } from '../form/choices.ts';
import { blank, type FormState, faultOf } from '../form/fields.ts';
import { csrfField, type Html, type Page, type Visitor } from '../frame/layout.ts';
import { nextPage, rowsUnder } from '../frame/lists.ts';
import { nameWithRole } from '../frame/person.ts';
import { counted, dayOf, minuteOf, nameOfType } from '../frame/words.ts';
import { reviewCell } from '../review/review-card.ts';
import { readWritten } from '../review/review-list.ts';
import {
  decisionOf,
  moderationUrl,
  nameOfPerson,
  requireModerator,
  saying,
  stateOf,
  whyFields,
} from './moderation.ts';

type History = NonNullable<Awaited<ReturnType<typeof findHistory>>>;

/** The page about an author for moderators. Throws ApiError 404 for anyone else. */
export async function authorPage(
  userId: string,
  visitor: Visitor,
  { filled = blank, cursor }: { filled?: FormState; cursor?: string } = {},
): Promise<Page> {
  requireModerator(visitor);
  const [history, claims, written] = await Promise.all([
    findHistory(userId),
    listHiddenClaims(userId),
    readWritten(userId, cursor, visitor),
  ]);
  if (!history) throw notFound('User');
  const { user } = history;
  const isBlocked = user.blocked_at !== undefined;
  const areWaiting = written.written.some(({ review }) => isHeld(review));
  // Only the form that was submitted is filled again.
  const stateOfForm = (...decisions: string[]) =>
    decisions.includes(filled.values.decision ?? '') ? filled : blank;
  return {
    title: `About ${user.display_name}`,
    isWide: true,
    content: html`${faultOf(filled)}
      <section>${facts(history)}</section>
      <div class="desk">
      <section><h2>Reviews</h2>${reviewTable(userId, written)}</section>
      <div>
      ${claims.length > 0 && allowance(claims, user, visitor, stateOfForm('allow'))}
      ${user.is_moderator ? onModerator : html`${blocking(history, areWaiting, visitor, stateOfForm('block', 'hide_all'))}${isBlocked && unblocking(user, visitor, stateOfForm('unblock'))}`}
      <section>${await decisionsOn(history)}</section>
      </div>
      </div>`,
  };
}

function reviewTable(userId: string, { written, cursor }: Awaited<ReturnType<typeof readWritten>>) {
  const rows = written.flatMap(({ review, metadata }) => {
    if (review.published_on === null) return [];
    const cell = reviewCell(review, metadata, moderationUrl(`/reviews/${review.id}`));
    return [[cell, stateOf(review), dayOf(review.published_on)]];
  });
  return html`${rowsUnder(['Review', 'State', 'Published'], rows, html`<p>None.</p>`)}
    ${nextPage(moderationUrl(`/users/${userId}`), cursor)}`;
}

const onModerator = html`<section>
    <h2>Block the account</h2>
    <p>This is a moderator, whom only the operator of the service blocks.</p>
  </section>`;

/** The form to block an account, or to take back what it did. Empty if nothing is left to do. */
function blocking(
  { user, reviews, decisions }: History,
  areWaiting: boolean,
  { csrf }: Visitor,
  filled: FormState,
) {
  const isBlocked = user.blocked_at !== undefined;
  const hasReviews = reviews > 0 || areWaiting;
  const isTakenBack = decisions.some(
    ({ decision, decided_at }) =>
      decision === 'hide_all' && isBlocked && decided_at >= `${user.blocked_at}`,
  );
  if (user.hiding !== undefined || (isTakenBack && !hasReviews)) return '';
  return html`<section class="end">
    <h2>${isBlocked ? 'Take back what it did' : 'Block the account'}</h2>
    ${
      !isBlocked &&
      html`<p>
        A blocked account reads, and can be deleted. It publishes, changes and deletes no review,
        casts no vote, reports nothing, and connects no application. Its reviews and votes stay as
        they are, unless you take them back too.
      </p>`
    }
    ${
      hasReviews &&
      html`<p>
        Each review, also one that waits for a moderator, is hidden by a decision of its own, with
        the same reason and note. The author can appeal against each. Reviews that you have reported
        stay for another moderator.
      </p>`
    }
    <p>
      With the reviews, all votes of the account are withdrawn, and no unblocking brings them back.
      This goes on after you leave the page. Names that the account gave stay.
    </p>
    <form method="post" action="${moderationUrl(`/users/${user.id}`)}">
      ${csrfField(csrf)}
      ${whyFields(filled)}
      <div class="buttons">
        ${!isBlocked && html`<button class="danger" name="decision" value="block">Block</button>`}
        <button class="danger" name="decision" value="hide_all">${takingBack(user, reviews, areWaiting)}</button>
      </div>
    </form>
  </section>`;
}

/** The words of the button that also withdraws the votes. */
function takingBack({ blocked_at }: User, reviews: number, areWaiting: boolean): string {
  const isBlocked = blocked_at !== undefined;
  if (reviews === 0 && !areWaiting) {
    return isBlocked ? 'Withdraw all votes' : 'Block and withdraw all votes';
  }
  const publicOnes = reviews === 1 ? 'the public review' : `all ${reviews} public reviews`;
  const all = reviews === 0 ? 'the reviews that wait' : publicOnes;
  return `${isBlocked ? 'Hide' : 'Block and hide'} ${all}`;
}

function unblocking({ id }: User, { csrf }: Visitor, filled: FormState) {
  return html`<section>
    <h2>End the block</h2>
    <p>
      The account may publish, vote, report and change its profile again. Hidden reviews stay hidden, and
      withdrawn votes stay withdrawn.
    </p>
    <form method="post" action="${moderationUrl(`/users/${id}`)}">
      ${csrfField(csrf)}
      <input type="hidden" name="decision" value="unblock">
      ${whyFields(filled, 'unblock-')}
      <button>Unblock</button>
    </form>
  </section>`;
}

function allowance(
  claims: readonly HiddenClaim[],
  author: User,
  { user, csrf }: Visitor,
  filled: FormState,
) {
  return html`<section>
    <h2>Hidden reviews that were deleted</h2>
    <p><bdi>${author.display_name}</bdi> can review none of these again until a moderator allows it.</p>
    ${
      author.id === user.id
        ? html`<p>These reviews were your own: another moderator decides on them.</p>`
        : html`<form method="post" action="${moderationUrl(`/users/${author.id}`)}">
            ${csrfField(csrf)}
            <input type="hidden" name="decision" value="allow">
            ${select({
              name: 'entity_id',
              label: 'Entity',
              options: claims.map(({ entity_id, entity_type, marked_at }) => {
                const deleted = `${entity_id}, deleted ${marked_at.slice(0, 10)}`;
                return [entity_id, `${nameOfEntityType(entity_type)} ${deleted}`];
              }),
              isRequired: true,
              filled,
            })}
            ${whyFields(filled, 'allow-')}
            <button>Allow a new review</button>
          </form>`
    }
  </section>`;
}

/** Facts about an author, and earlier decisions. */
export async function historyOf(history: History): Promise<Html> {
  return html`${facts(history)}${await decisionsOn(history)}`;
}

function facts({ user, reviews }: History) {
  const { id, karma, created, blocked_at, hiding } = user;
  return html`<dl>
    <dt>Name</dt><dd><a href="${authUrl()}/user/${id}">${nameWithRole(user)}</a></dd>
    <dt>Here since</dt><dd>${dayOf(created)}</dd>
    <dt>Reviews</dt><dd>${reviews} public</dd>
    <dt>Karma</dt><dd>${karma}, ${nameOfType(userTypeOf(user))}</dd>
    ${blocked_at && html`<dt>Blocked</dt><dd>since ${minuteOf(blocked_at)}</dd>`}
    ${hiding && html`<dt>Under way</dt><dd>All reviews are being hidden. Then all votes are withdrawn. Reload the page to see how many reviews are left.</dd>`}
  </dl>`;
}

async function decisionsOn({ decisions }: History) {
  const users = await findUsers(decisions.flatMap(({ moderator_id }) => moderator_id ?? []));
  return html`<h2>Decisions so far</h2>
    ${
      decisions.length > 0
        ? html`<ul class="plain">${decisions.map((each) => html`<li>${entry(each, users)}</li>`)}</ul>`
        : html`<p class="soft">None.</p>`
    }`;
}

function entry(decision: Decision, users: ReadonlyMap<string, User>) {
  const { review_id, moderator_id, decided_at, note, reports } = decision;
  return html`<p><strong>${decisionOf(decision)}</strong></p>
    ${saying(note)}
    <p class="soft">
      ${minuteOf(decided_at)}, by <bdi>${nameOfPerson(moderator_id, users)}</bdi>${reports > 0 && `, on ${counted(reports, 'report')}`}
      ${review_id && html`<a href="${moderationUrl(`/reviews/${review_id}`)}">The review</a>`}
    </p>`;
}
