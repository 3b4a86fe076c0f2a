// The page of the log of decisions, with a form to undo each change of a name or thing.
import { html } from 'hono/html';
import type { Decision } from '../../../core/report/decision.ts';
import { listDecisions } from '../../../core/report/decision-log.ts';
import type { User } from '../../../core/user/user.ts';
import { findUsers } from '../../../core/user/user-repository.ts';
import { entityUrl } from '../../../pages/entity/addresses.ts';
import { blank, type FormState, faultOf } from '../../../pages/form/fields.ts';
import { csrfField, type Html, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { nextPage, readDated, rowsUnder } from '../../../pages/frame/lists.ts';
import { minuteOf } from '../../../pages/frame/words.ts';
import {
  decisionOf,
  linkTo,
  moderationTabs,
  moderationUrl,
  nameOfPerson,
  requireModerator,
  saying,
} from './moderation.ts';
import { wordsBeforeAndAfter } from './names-page.ts';

/** A page of the log, the newest first. Throws ApiError 404 for anyone but moderators. */
export async function logPage(
  visitor: Visitor,
  query: { cursor?: string | undefined },
  filled: FormState = blank,
): Promise<Page> {
  requireModerator(visitor);
  const { decisions, cursor } = await readDated(
    { list: 'decisions' },
    query.cursor,
    (limit, after) => listDecisions(limit, { after }),
  );
  const users = await findUsers(
    decisions.flatMap(({ user_id, moderator_id }) => [user_id ?? [], moderator_id ?? []].flat()),
  );
  const rows = decisions.map((decision) => [
    html`<strong>${decisionOf(decision)}</strong>${saying(decision.note)}${changeOf(decision, visitor.csrf)}`,
    aboutOf(decision, users),
    `${decision.reports}`,
    html`<bdi>${nameOfPerson(decision.moderator_id, users)}</bdi>`,
    minuteOf(decision.decided_at),
  ]);
  const none = html`<p>Nothing has been decided yet.</p>`;
  return {
    title: 'Log of moderation',
    isWide: true,
    content: html`${moderationTabs('/log')}
      ${faultOf(filled)}
      <section>
        ${rowsUnder(['Decision', 'About', 'Reports', 'By', 'When'], rows, none)}
        ${nextPage(moderationUrl('/log'), cursor)}
      </section>`,
  };
}

/** The words and the state of a thing before and after, and the button to undo the change. */
function changeOf({ id, decision, before, after }: Decision, csrf: string) {
  if (!after) return '';
  return html`${wordsBeforeAndAfter(before, after)}
    ${before && stateChange(before, after)}
    ${
      decision !== 'decline' &&
      html`<form method="post" action="${moderationUrl('/log')}">
        ${csrfField(csrf, { id })}
        <button class="quiet">Undo</button>
      </form>`
    }`;
}

type Logged = NonNullable<Decision['after']>;

/** The state before and after, if a decision has changed it. */
function stateChange(before: Logged, after: Logged): Html | '' {
  const was = stateInWords(before);
  const is = stateInWords(after);
  return was === is ? '' : html`<p class="soft">Before: ${was}. Now: ${is}.</p>`;
}

function stateInWords({ state, same_as }: Logged): string {
  if (state !== undefined) return state;
  return same_as === undefined ? 'public' : `the same as ${same_as}`;
}

function aboutOf(
  { user_id, review_id, entity_id, entity_type, after }: Decision,
  users: ReadonlyMap<string, User>,
) {
  if (entity_id !== undefined) {
    const href = entityUrl({ entity_id, entity_type });
    return html`<a href="${href}"><bdi>${after?.name ?? 'a name'}</bdi></a>${user_id !== null && html` by ${linkTo(user_id, users)}`}`;
  }
  const review = users.has(user_id ?? '')
    ? html`<a href="${moderationUrl(`/reviews/${review_id}`)}">a review</a>`
    : 'a review';
  return html`${review_id && html`${review} of `}${linkTo(user_id, users)}`;
}
