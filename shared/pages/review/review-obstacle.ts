// Reasons that prevent a person from writing, editing or deleting a review.
import { html } from 'hono/html';
import { findWritingObstacle } from '../../core/user/daily-limit.ts';
import type { User } from '../../core/user/user.ts';
import { blockedAccount } from '../../core/user/writer.ts';
import { blank, type FormState } from '../form/fields.ts';
import { typedText } from '../form/typed-text.ts';
import type { Html, Page } from '../frame/layout.ts';
import { nextSteps, toAccount } from '../frame/next-steps.ts';
import { askOperator } from '../frame/operator.ts';

/** The reason that prevents a user from writing, and what to do. Undefined if there is none. */
export async function findObstacle(
  user: User,
  what: 'publications' | 'edits',
): Promise<Html | undefined> {
  if (user.blocked_at !== undefined) return blockedHelp();
  const limit = await findWritingObstacle(what, user.id);
  return limit === undefined
    ? undefined
    : html`<p>${limit}.</p><p>You can continue after midnight UTC.</p>`;
}

/** Explains to a blocked account that it cannot write, and who can help. */
export function blockedHelp(): Html {
  return html`<p>${blockedAccount}.</p>
    <p>Your account page shows what the moderator wrote about it. If you think that it is a mistake, ${askOperator()}.</p>`;
}

/** A page with the reason in place of a form, and with the text of a form that was sent anyway. */
export function obstaclePage(title: string, why: Html, { values }: FormState = blank): Page {
  return {
    title,
    content: html`<section>${why}${typedText(values.text)}${nextSteps(toAccount())}</section>`,
  };
}
