// Words, addresses and fields that the pages for moderators share.
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import { notFound } from '../../../base/errors.ts';
import type { Entity, EntityRecord } from '../../../core/entity/record.ts';
import type { ReviewCase } from '../../../core/report/case-repository.ts';
import type { Decision } from '../../../core/report/decision.ts';
import type { Review } from '../../../core/review/review.ts';
import { type Moderation, type Reason, reasons } from '../../../core/review/verdict.ts';
import type { User } from '../../../core/user/user.ts';
import { canModerate } from '../../../core/user/user-type.ts';
import { select } from '../../../pages/form/choices.ts';
import { type FormState, field } from '../../../pages/form/fields.ts';
import type { Html, Visitor } from '../../../pages/frame/layout.ts';
import { tabs } from '../../../pages/frame/lists.ts';
import { withQuery } from '../../../pages/frame/own-url.ts';
import { personLink } from '../../../pages/frame/person.ts';
import { counted } from '../../../pages/frame/words.ts';
import { takesInvitations } from '../../members/public.ts';

/** Throws ApiError 404 for anyone who is not a moderator. */
export function requireModerator({ user }: Visitor): void {
  if (!canModerate(user)) throw notFound('Page');
}

/** Address of a moderation page. */
export function moderationUrl(path = ''): string {
  return `${authUrl()}/account/moderation${path}`;
}

/** Address of what is proposed for a name. It leads to the page of the thing. */
export function namesUrl({ entity_id, entity_type }: Entity): string {
  return withQuery(moderationUrl(`/names/${entity_id}`), { entity_type });
}

/** The reasons as pages call them. */
export const reasonWords: Readonly<Record<Reason, string>> = {
  spam: 'Spam',
  abuse: 'Abuse',
  off_topic: 'Off topic',
  copyright: 'Copyright',
  other: 'Another reason',
};

const decisionWords: Readonly<Record<Decision['decision'], string>> = {
  hide: 'Hidden',
  dismiss: 'Reports dismissed',
  restore: 'Public again',
  uphold: 'Stays hidden',
  approve: 'Approved',
  refuse: 'Edit refused',
  block: 'Account blocked',
  hold: 'Waits for a moderator',
  hide_all: 'Account blocked, all taken back',
  unblock: 'Account unblocked',
  restore_all: 'Account unblocked, all brought back',
  allow: 'May be reviewed again',
  name: 'Named',
  correct: 'Name corrected',
  decline: 'Correction declined',
  confirm: 'Name confirmed',
  remove: 'Removed',
  lead: 'Leads to the same thing elsewhere',
  return: 'Brought back',
  link: 'Sign-in changed',
};

/** Tabs of the moderation pages. */
export function moderationTabs(path: '' | '/log' | '/invitations'): Html {
  return tabs('Moderation', moderationUrl(path), [
    [moderationUrl(), 'To decide'],
    [moderationUrl('/log'), 'Log'],
    ...(takesInvitations() ? [[moderationUrl('/invitations'), 'Invitations'] as const] : []),
  ]);
}

/** A decision and its reason. */
export function decisionOf({
  decision,
  reason,
  votes = 0,
}: Pick<Moderation, 'reason'> &
  Pick<Decision, 'votes'> & { decision: Decision['decision'] }): string {
  const words = decisionWords[decision];
  if (isWithoutReason(decision)) return words;
  const withdrawn = votes > 0 ? `, ${counted(votes, 'vote')} withdrawn` : '';
  return `${words}${withdrawn}: ${reasonWords[reason].toLowerCase()}`;
}

/** Decisions by which nothing was wrong, or that are about names. */
const withoutReason: readonly Decision['decision'][] = [
  'hold',
  'approve',
  'dismiss',
  'restore',
  'name',
  'correct',
  'decline',
  'confirm',
  'lead',
  'return',
  'link',
];

/** Nothing was wrong, or it is about a name, which is right or wrong, or a sign-in. */
function isWithoutReason(decision: Decision['decision']): boolean {
  return withoutReason.includes(decision);
}

/** The reason of a report: a word of the list, or the text that somebody wrote. */
export function reasonOf(text: string): string {
  return Object.hasOwn(reasonWords, text) ? reasonWords[text as Reason] : text;
}

/** The reasons of the reports of a case, such as Spam 3, Abuse 1. */
export function reasonsOf(moderationCase: Readonly<Record<Reason, number>>): string {
  const given = reasons.filter((reason) => moderationCase[reason] > 0);
  return given.map((reason) => `${reasonWords[reason]} ${moderationCase[reason]}`).join(', ');
}

/** Text of a person, in any language and direction. */
export function saying(text: string): Html | '' {
  return text && html`<p class="verbatim" dir="auto">${text}</p>`;
}

/** A review as its author and moderators see it. */
export function stateOf({ is_hidden, published_on, moderation, waiting_since }: Review): string {
  if (published_on === null) return 'Draft';
  if (waiting_since !== undefined) return 'Public, an edit waits for a moderator';
  if (!is_hidden) return 'Public';
  return moderation ? decisionOf(moderation) : 'Hidden';
}

/** The public name of a person who may have left; null is the operator. */
export function nameOfPerson(id: string | null, users: ReadonlyMap<string, User>): string {
  if (id === null) return 'the operator';
  return users.get(id)?.display_name ?? 'somebody who has left';
}

/** The name, with a link to the page about that person, if the account exists. */
export function linkTo(id: string | null, users: ReadonlyMap<string, User>): Html {
  const user = users.get(id ?? '');
  if (!user) return html`<bdi>${nameOfPerson(id, users)}</bdi>`;
  return personLink(user, moderationUrl(`/users/${id}`));
}

/** Returns the versions that a moderator sees: a decision on anything later is refused. */
export function snapshotOf(
  { review, moderationCase }: Pick<ReviewCase, 'review' | 'moderationCase'>,
  record: EntityRecord | undefined,
) {
  return {
    version: moderationCase.version,
    edits: review.edits,
    named: record?.state === 'waiting' ? record.version : undefined,
  };
}

/** The hidden fields of a decision by which nothing was wrong. */
export const noReason = { reason: 'other', note: '' };

/** Fields for the reason and the note of a decision. `prefix` keeps the ids of two forms apart. */
export function whyFields(filled: FormState, prefix = ''): Html {
  return html`${select({
    name: 'reason',
    prefix,
    label: 'Reason',
    none: 'Choose one',
    options: reasons.map((reason) => [reason, reasonWords[reason]]),
    isRequired: true,
    filled,
  })}
    ${field({
      name: 'note',
      prefix,
      label: 'Note',
      type: 'area',
      hint: 'The author reads it, and so do moderators.',
      maxlength: 500,
      filled,
    })}`;
}
