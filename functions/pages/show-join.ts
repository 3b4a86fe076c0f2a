import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { notFound } from '../../shared/base/errors.ts';
import { site } from '../../shared/base/site/site.ts';
import { PathParameter } from '../../shared/core/http/request.ts';
import {
  endOf,
  findInvitation,
  InvitationToken,
  takesInvitations,
} from '../../shared/features/members/public.ts';
import { page } from '../../shared/pages/form/page.ts';
import { nextSteps, signInUrl } from '../../shared/pages/frame/next-steps.ts';
import { dayOf } from '../../shared/pages/frame/words.ts';

export const request = v.object({
  path: v.object({ invitation: PathParameter('Invitation', InvitationToken) }),
});

/**
 * Shows an invitation, and leads to the sign-in. The sign-in returns here if it fails, which is
 * also how it knows the invitation.
 */
export const handler = page(request, async ({ path }, { visitor }) => {
  const reading = { href: `${authUrl()}/`, text: 'Read reviews' };
  if (visitor) {
    return {
      title: 'You have joined already',
      content: html`<section>
        <p>This link is for people without an account.</p>
        ${nextSteps(reading)}
      </section>`,
    };
  }
  const invitation = await findInvitation(path.invitation);
  if (!invitation) throw notFound('Invitation');
  const end = takesInvitations() ? endOf(invitation) : 'This place takes no invitations now';
  if (end !== undefined) {
    return {
      status: 410,
      title: 'This invitation has ended',
      content: html`<section>
        <p>${end}. Ask the person who gave you the link for another one. If you have joined already, sign in.</p>
        ${nextSteps({ href: signInUrl(`${authUrl()}/account`), text: 'Sign in' }, reading)}
      </section>`,
    };
  }
  return {
    title: `You are invited to ${site().name}`,
    content: html`<section>
      <p>Sign in to open your account. With it you can review and vote. This link is valid until ${dayOf(invitation.ends_at)}.</p>
      ${nextSteps({ href: signInUrl(`${authUrl()}/join/${path.invitation}`), text: 'Sign in and join' }, reading)}
    </section>`,
  };
});
