// Invitations: the list for moderators, the form for another one, and its link.
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import { select } from '../../../pages/form/choices.ts';
import { blank, type FormState, faultOf, field } from '../../../pages/form/fields.ts';
import { csrfField, type Html, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { rowsUnder } from '../../../pages/frame/lists.ts';
import { dayOf } from '../../../pages/frame/words.ts';
import {
  endOf,
  type Invitation,
  invitationLimits,
  listInvitations,
  takesInvitations,
} from '../../members/public.ts';
import { moderationTabs, moderationUrl, requireModerator } from './moderation.ts';

/** Days for which an invitation may hold. */
export const invitationDays = [1, 7, 30, 90] as const;

/** Page of all invitations. The form for another one is empty, or filled as submitted. */
export async function invitationsPage(visitor: Visitor, filled: FormState = blank): Promise<Page> {
  requireModerator(visitor);
  const rows = (await listInvitations()).map((each) => [
    html`<bdi>${each.note ?? 'Without a note'}</bdi>`,
    `${each.joined} of ${each.people}`,
    dayOf(each.ends_at),
    stateOf(each, visitor.csrf),
  ]);
  const none = html`<p>There are no invitations. An invitation is a link with which people open an account.</p>`;
  return {
    title: 'Invitations',
    isWide: true,
    content: html`${moderationTabs('/invitations')}
      ${faultOf(filled)}
      <section>
        ${rowsUnder(['For', 'Joined', 'Until', 'State'], rows, none)}
      </section>
      <section>
        <h2>Invite people</h2>
        ${takesInvitations() ? form(visitor.csrf, filled) : html`<p>The operator has not allowed invitations here.</p>`}
      </section>`,
  };
}

/** Page of a new invitation. Its link is shown only once. */
export function newInvitationPage(token: string, { people, ends_at }: Invitation): Page {
  return {
    title: 'Your invitation',
    content: html`<section>
      <p>Copy this link now, and give it to the people whom you invite. It is not shown again.</p>
      <p><code class="copy">${invitationUrl(token)}</code></p>
      <p class="soft">Anyone who has the link can join, until ${people} people have joined, or until ${dayOf(ends_at)}. Click it to select all of it. If it gets to strangers, revoke it: who has joined stays.</p>
      <form method="get" action="${moderationUrl('/invitations')}"><button>I have copied the link</button></form>
    </section>`,
  };
}

/** Address of an invitation. */
export function invitationUrl(token: string): string {
  return `${authUrl()}/join/${token}`;
}

function stateOf(invitation: Invitation, csrf: string): Html {
  const end = endOf(invitation);
  if (end !== undefined) return html`${end}`;
  return html`<form method="post" action="${moderationUrl(`/invitations/${invitation.id}/revoke`)}">
    ${csrfField(csrf)}<button class="danger" aria-label="Revoke invitation ${invitation.note ?? 'without a note'}">Revoke invitation</button>
  </form>`;
}

function form(csrf: string, filled: FormState): Html {
  const { people, note } = invitationLimits;
  return html`<form method="post" action="${moderationUrl('/invitations')}">
    ${csrfField(csrf)}
    ${field({
      name: 'people',
      label: 'People',
      hint: `The most people who may join with the link, up to ${people}.`,
      maxlength: 4,
      inputmode: 'numeric',
      value: '10',
      isRequired: true,
      filled,
    })}
    ${select({
      name: 'days',
      label: 'Expires after',
      options: invitationDays.map((days) => [`${days}`, days === 1 ? '1 day' : `${days} days`]),
      value: '7',
      filled,
    })}
    ${field({
      name: 'note',
      label: 'Note',
      hint: 'What the link is for, so that you know which one to revoke. Moderators read it.',
      maxlength: note,
      filled,
    })}
    <button>Create link</button>
  </form>`;
}
