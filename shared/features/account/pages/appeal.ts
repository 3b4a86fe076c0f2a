// The appeal of an author against the decision that hides a review.
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import type { Review } from '../../../core/review/review.ts';
import { csrfField, type Html } from '../../../pages/frame/layout.ts';
import { minuteOf } from '../../../pages/frame/words.ts';

/** The appeal against the decision that hides a review: the form, or the state of it. */
export function appealOn({ id: reviewId, moderation, appealed_at }: Review, csrf: string): Html {
  if (appealed_at !== undefined) {
    return moderation?.decision === 'uphold'
      ? html`<p>Your appeal was decided. The decision is final.</p>`
      : html`<p>You appealed on ${minuteOf(appealed_at)}. There is no answer yet.</p>`;
  }
  const id = `statement-${reviewId}`;
  return html`<details>
    <summary>Appeal against this decision</summary>
    <form method="post" action="${authUrl()}/account/reviews/${reviewId}/appeal">
      ${csrfField(csrf)}
      <div class="field">
        <label for="${id}">What should the other moderator know?</label>
        <p class="soft" id="${id}-hint">You can appeal once. Another moderator decides on it, not the one who has decided.</p>
        <textarea id="${id}" name="statement" maxlength="500" aria-describedby="${id}-hint"></textarea>
      </div>
      <button>Send the appeal</button>
    </form>
  </details>`;
}
