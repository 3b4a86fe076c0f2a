// Why a person cannot write, on the pages to write, edit and delete a review.
import { html } from 'hono/html';
import { findWritingObstacle } from '../../user/daily-limit.ts';
import type { User } from '../../user/user.ts';
import { blockedAccount } from '../../user/writer.ts';
import { blank, type FormState } from '../form/fields.ts';
import { typedText } from '../form/typed-text.ts';
import type { Html, Page } from '../frame/layout.ts';
import { nextSteps, toAccount } from '../frame/next-steps.ts';

/** Says why a user cannot write, and what to do. Undefined if nothing prevents it. */
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

/** Says to a blocked account why it cannot write, and to whom to turn. */
export function blockedHelp(): Html {
  return html`<p>${blockedAccount}.</p>
    <p>Your account page shows what the moderator wrote about it. If you think that it is a mistake, ask the operator of this service.</p>`;
}

/** A page that says why there is no form, with the text of a form that was sent anyway. */
export function obstaclePage(title: string, why: Html, { values }: FormState = blank): Page {
  return {
    title,
    content: html`<section>${why}${typedText(values.text)}${nextSteps(toAccount())}</section>`,
  };
}
