// The page about an author for moderators: facts, reviews, decisions, and forms to decide.
import { html } from 'hono/html';
import * as v from 'valibot';
import { notFound } from '../../../base/errors.ts';
import { oneOf } from '../../../base/values.ts';
import { nameOfEntityType } from '../../../core/entity/entity-type.ts';
import type { Decision } from '../../../core/report/decision.ts';
import { findHistory } from '../../../core/report/decision-log.ts';
import type { HiddenClaim } from '../../../core/review/hidden-claim.ts';
import type { User } from '../../../core/user/user.ts';
import { findUsers } from '../../../core/user/user-repository.ts';
import { userTypeOf } from '../../../core/user/user-type.ts';
import { select } from '../../../pages/form/choices.ts';
import { blank, type FormState, faultOf } from '../../../pages/form/fields.ts';
import { csrfField, type Html, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { nextPage, readDated, rowsUnder, tabs } from '../../../pages/frame/lists.ts';
import { withQuery } from '../../../pages/frame/own-url.ts';
import { nameWithRole, personLink, personTop } from '../../../pages/frame/person.ts';
import { counted, dayOf, minuteOf, nameOfType } from '../../../pages/frame/words.ts';
import { reviewCell } from '../../../pages/review/review-card.ts';
import { readWritten } from '../../../pages/review/review-list.ts';
import { listNamed, listProposed } from '../../names/public.ts';
import { recordUrl } from '../../things/public.ts';
import { listHiddenClaims } from '../hidden-claims.ts';
import { approveAllForm } from './approve-all-form.ts';
import {
  decisionOf,
  moderationUrl,
  nameOfPerson,
  requireModerator,
  saying,
  stateOf,
  whyFields,
} from './moderation.ts';
import { nameCell, wordsBeforeAndAfter } from './names-page.ts';

type History = NonNullable<Awaited<ReturnType<typeof findHistory>>>;

const lists = { reviews: 'Reviews', names: 'Names', proposals: 'Proposals' } as const;
type ListName = keyof typeof lists;

/** The list of what the person did that the page shows, and its cursor. */
export const AuthorQuery = v.object({
  show: v.optional(oneOf(Object.keys(lists) as ListName[]), 'reviews'),
  cursor: v.optional(v.string()),
});
type AuthorQuery = v.InferOutput<typeof AuthorQuery>;

/** The page about an author for moderators. Throws ApiError 404 for anyone else. */
export async function authorPage(
  userId: string,
  visitor: Visitor,
  query: AuthorQuery,
  filled: FormState = blank,
): Promise<Page> {
  requireModerator(visitor);
  const [history, claims, list] = await Promise.all([
    findHistory(userId),
    listHiddenClaims(userId),
    listOf(userId, query, visitor),
  ]);
  if (!history) throw notFound('User');
  const { user } = history;
  const linkTo = (show: ListName) => withQuery(moderationUrl(`/users/${userId}`), { show });
  // Only the form that was submitted is filled again.
  const stateOfForm = (...decisions: string[]) =>
    decisions.includes(filled.values.decision ?? '') ? filled : blank;
  return {
    title: `About ${user.display_name}`,
    top: personTop(user, html`About ${nameWithRole(user)}`),
    isWide: true,
    content: html`${faultOf(filled)}
      <section>${facts(history)}</section>
      <div class="desk">
      <section>
        ${tabs('What it did', linkTo(query.show), [
          [linkTo('reviews'), lists.reviews],
          [linkTo('names'), lists.names],
          [linkTo('proposals'), lists.proposals],
        ])}
        ${list}
      </section>
      <div>
      ${user.blocked_at === undefined && approval(user, visitor)}
      ${claims.length > 0 && allowance(claims, user, visitor, stateOfForm('allow'))}
      ${user.is_moderator ? onModerator : blocking(history, visitor, stateOfForm('block', 'hide_all'))}
      ${user.blocked_at && unblocking(user, visitor, stateOfForm('unblock', 'restore_all'))}
      <section>${await decisionsOn(history)}</section>
      </div>
      </div>`,
  };
}

const stateWords = { public: 'Public', waiting: 'Waits', removed: 'Removed' } as const;

async function listOf(
  userId: string,
  { show, cursor: start }: AuthorQuery,
  visitor: Visitor,
): Promise<Html> {
  const none = html`<p>None.</p>`;
  const url = moderationUrl(`/users/${userId}`);
  if (show === 'reviews') {
    const { written, cursor } = await readWritten(userId, start, visitor);
    const rows = written.flatMap(({ review, metadata }) => {
      if (review.published_on === null) return [];
      const cell = reviewCell(review, metadata, moderationUrl(`/reviews/${review.id}`));
      return [[cell, stateOf(review), dayOf(review.published_on)]];
    });
    return html`${rowsUnder(['Review', 'State', 'Published'], rows, none)}${nextPage(url, cursor)}`;
  }
  const list = { list: show, userId };
  if (show === 'names') {
    const { found, cursor } = await readDated(list, start, (limit, after) =>
      listNamed(userId, limit, after),
    );
    const rows = found.map((record) => [
      nameCell(record, record, recordUrl(record)),
      stateWords[record.state ?? 'public'],
      dayOf(`${record.written_at}`),
    ]);
    return html`${rowsUnder(['Name', 'State', 'Given'], rows, none)}${nextPage(url, cursor, { show })}`;
  }
  const { found, cursor } = await readDated(list, start, (limit, after) =>
    listProposed(userId, limit, after),
  );
  const rows = found.map(({ proposal, record }) => [
    nameCell(proposal, record ?? proposal),
    html`${saying(proposal.note)}${wordsBeforeAndAfter(record, proposal)}`,
    dayOf(proposal.proposed_at),
  ]);
  return html`${rowsUnder(['Name', 'Proposed', 'When'], rows, none)}${nextPage(url, cursor, { show })}`;
}

const onModerator = html`<section>
    <h2>Block the account</h2>
    <p>This is a moderator, whom only the operator of the service blocks.</p>
  </section>`;

/** The form to approve all that waits of an author. Empty where nothing of new authors waits. */
function approval(author: User, { user, csrf }: Visitor): Html | '' {
  if (Number(process.env.HELD_REVIEWS ?? 0) === 0 || author.id === user.id) return '';
  return html`<section>
    <h2>Approve all that waits</h2>
    <p>Reviews, new texts and names of this author become public, at most 20 at a time.</p>
    ${approveAllForm(author, csrf, 'quiet', 'Approve all')}
  </section>`;
}

/** The form to block an account, or to take back what it did. Empty if nothing is left to do. */
function blocking({ user, reviews }: History, { csrf }: Visitor, filled: FormState) {
  const isBlocked = user.blocked_at !== undefined;
  const isTakenBack = isBlocked && user.taken_back !== undefined && reviews === 0;
  if (isBlocked && (user.hiding !== undefined || isTakenBack)) return '';
  return html`<section class="end">
    <h2>${isBlocked ? 'Undo what it did' : 'Block the account'}</h2>
    ${
      !isBlocked &&
      html`<p>
        A blocked account reads, and can be deleted. It publishes, changes and deletes no review,
        names nothing, casts no vote, reports nothing, and connects no application. All that it did
        stays as it is, unless you undo that too.
      </p>`
    }
    <p>
      To undo everything hides its reviews, sets names back to what they were before, or removes
      them, and drops its proposals. Each is a decision of its own in the log, with the same reason
      and note. The author can appeal against each hidden review. Votes are withdrawn for good. All
      else can be brought back at once. This goes on after you leave the page.
    </p>
    <p>
      What other moderators have decided on stays. So do reviews that you have reported, and names
      of things that others have reviewed.
    </p>
    <form method="post" action="${moderationUrl(`/users/${user.id}`)}">
      ${csrfField(csrf)}
      ${whyFields(filled)}
      <div class="buttons">
        ${!isBlocked && html`<button class="danger" name="decision" value="block">Block</button>`}
        <button class="danger" name="decision" value="hide_all">${isBlocked ? 'Undo everything' : 'Block and undo everything'}</button>
      </div>
    </form>
  </section>`;
}

function unblocking({ id, taken_back }: User, { csrf }: Visitor, filled: FormState) {
  return html`<section>
    <h2>End the block</h2>
    <p>
      The account may publish, vote, report and change its profile again. ${
        taken_back === undefined
          ? 'Hidden reviews stay hidden.'
          : 'What was undone stays so, unless you bring it back too. Withdrawn votes stay withdrawn.'
      }
    </p>
    <form method="post" action="${moderationUrl(`/users/${id}`)}">
      ${csrfField(csrf)}
      ${whyFields(filled, 'unblock-')}
      <div class="buttons">
        <button name="decision" value="unblock">Unblock</button>
        ${taken_back && html`<button name="decision" value="restore_all">Unblock and bring everything back</button>`}
      </div>
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
            ${csrfField(csrf, { decision: 'allow' })}
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
  const { karma, created, blocked_at, hiding } = user;
  return html`<dl>
    <dt>Name</dt><dd>${personLink(user)}</dd>
    <dt>Here since</dt><dd>${dayOf(created)}</dd>
    <dt>Reviews</dt><dd>${reviews} public</dd>
    <dt>Karma</dt><dd>${karma}, ${nameOfType(userTypeOf(user))}</dd>
    ${blocked_at && html`<dt>Blocked</dt><dd>since ${minuteOf(blocked_at)}</dd>`}
    ${hiding && html`<dt>Under way</dt><dd>${blocked_at ? 'Everything is being undone.' : 'Everything is being brought back.'} Reload the page to see how many reviews are public.</dd>`}
  </dl>`;
}

/** Decisions so far: those on reviews and the account apart from those on names. */
async function decisionsOn({ decisions }: History) {
  const users = await findUsers(decisions.flatMap(({ moderator_id }) => moderator_id ?? []));
  const names = decisions.filter(({ entity_id }) => entity_id !== undefined);
  const others = decisions.filter(({ entity_id }) => entity_id === undefined);
  const list = (some: readonly Decision[]) =>
    html`<ul class="plain">${some.map((each) => html`<li>${entry(each, users)}</li>`)}</ul>`;
  return html`<h2>Decisions so far</h2>
    ${others.length > 0 ? list(others) : html`<p class="soft">None.</p>`}
    ${names.length > 0 && html`<h2>Decisions on names</h2>${list(names)}`}`;
}

function entry(decision: Decision, users: ReadonlyMap<string, User>) {
  const { review_id, moderator_id, decided_at, note, reports, before, after } = decision;
  return html`<p><strong>${decisionOf(decision)}</strong></p>
    ${after && wordsBeforeAndAfter(before, after)}
    ${saying(note)}
    <p class="soft">
      ${minuteOf(decided_at)}, by <bdi>${nameOfPerson(moderator_id, users)}</bdi>${reports > 0 && `, on ${counted(reports, 'report')}`}
      ${review_id && html`<a href="${moderationUrl(`/reviews/${review_id}`)}">The review</a>`}
    </p>`;
}
