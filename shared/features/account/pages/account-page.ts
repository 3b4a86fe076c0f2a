import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import type { Decided } from '../../../core/report/decision-log.ts';
import type { Review } from '../../../core/review/review.ts';
import type { Contact, User } from '../../../core/user/user.ts';
import type { Account } from '../../../core/user/user-repository.ts';
import { userTypeOf } from '../../../core/user/user-type.ts';
import { blank, displayName, type FormState, faultOf, field } from '../../../pages/form/fields.ts';
import { csrfField, type Html, type Page } from '../../../pages/frame/layout.ts';
import { nextPage } from '../../../pages/frame/lists.ts';
import { nameWithRole, personTop } from '../../../pages/frame/person.ts';
import { minuteOf, nameOfType } from '../../../pages/frame/words.ts';
import { excerptOf } from '../../../pages/review/written-parts.ts';
import { decisionOf, saying } from '../../moderation/public.ts';
import { mailSettings, newsSection } from '../../notices/public.ts';
import { signInSection } from './move-pages.ts';

/** The account page, with the profile as stored or as sent, and a page of decisions. */
export function accountPage(
  { user, contact }: Account,
  csrf: string,
  decisions: { decided: readonly Decided[]; cursor?: string } = { decided: [] },
  filled: FormState = blank,
): Page {
  const { cursor } = decisions;
  // A correction that needed no moderator is no news.
  const decided = decisions.decided.filter(({ decision }) => decision.moderator_id !== user.id);
  return {
    title: user.display_name,
    top: personTop(
      user,
      nameWithRole(user),
      html`<a href="${authUrl()}/user/${user.id}">Your page as others see it</a>`,
    ),
    isWide: true,
    content: html`${faultOf(filled)}
      <div class="desk">
        <div>
          ${newsSection(user)}
          ${profile(user, contact, csrf, filled)}
          ${signInSection(contact)}
          ${mailSettings({ user, contact }, csrf)}
          ${standing(user)}
          ${decided.length > 0 && moderation(decided, csrf, cursor)}
        </div>
        <div>${ownData()}</div>
      </div>`,
  };
}

function profile(user: User, contact: Contact, csrf: string, filled: FormState) {
  const { return_to } = filled.values;
  return html`<section>
    <h2>Profile</h2>
    ${user.has_proposed_name && html`<p>You are new here: keep this name or choose another, then save it.</p>`}
    <form method="post" action="${authUrl()}/account">
      ${csrfField(csrf)}
      ${return_to && html`<input type="hidden" name="return_to" value="${return_to}">`}
      ${field({ ...displayName, label: 'Public name', value: contact.proposed_name ?? user.display_name, filled })}
      ${field({
        name: 'email',
        label: 'Email address',
        hint: 'Shown to applications that you connect, not to other people. It changes nothing about how you sign in.',
        type: 'email',
        value: contact.email ?? '',
        maxlength: 254,
        autocomplete: 'email',
        filled,
      })}
      <button>Save</button>
    </form>
  </section>`;
}

function standing(user: User) {
  const type = userTypeOf(user);
  const may =
    user.blocked_at === undefined
      ? `votes on up to ${type.votes_per_day} reviews a day`
      : 'a moderator has blocked the account, which can read but not write';
  return html`<section>
    <h2>Karma and votes</h2>
    <dl>
      <dt>Karma</dt><dd>${user.karma} <a href="${authUrl()}/help#karma">What is karma?</a></dd>
      <dt>You are</dt><dd>${nameOfType(type)}: ${may}</dd>
      <dt>Your id</dt><dd><code>${user.id}</code></dd>
    </dl>
  </section>`;
}

/** Ways to the own tokens, the export and the deletion. */
function ownData() {
  return html`<section>
    <h2>Personal access tokens</h2>
    <p>For scripts of your own: an access token in a minute, without an application.</p>
    <p><a class="button quiet" href="${authUrl()}/account/tokens">Your tokens</a></p>
  </section>
  <section>
    <h2>Your data</h2>
    <p>Everything that is stored about you, in a file for programs and people (JSON): your profile, reviews, votes and all else.</p>
    <p><a class="button quiet" href="${authUrl()}/account/data">Download my data</a></p>
    <p>Your reviews alone, with titles, dates and stars, as a table for spreadsheets (CSV):</p>
    <p><a class="button quiet" href="${authUrl()}/account/data?format=csv">Download my reviews</a></p>
    <p>Reviews and stars of yours from Letterboxd, Goodreads or StoryGraph:</p>
    <p><a class="button quiet" href="${authUrl()}/account/files">Bring your reviews</a></p>
  </section>
  <section>
    <h2>Delete the account</h2>
    <p>With all that you have written. You are told what that means before anything happens.</p>
    <p><a class="button danger" href="${authUrl()}/account/delete">Delete my account …</a></p>
  </section>`;
}

function moderation(decided: readonly Decided[], csrf: string, cursor?: string) {
  return html`<section>
    <h2>What moderators have decided</h2>
    <ul class="plain">${decided.map((each) => html`<li>${entry(each, csrf)}</li>`)}</ul>
    ${nextPage(`${authUrl()}/account`, cursor)}
  </section>`;
}

/** A decision without its moderator, who stays anonymous to the author. */
function entry({ decision, review }: Decided, csrf: string) {
  const { note, decided_at } = decision;
  return html`<h3>${decisionOf(decision)}</h3>
    <p class="soft">${minuteOf(decided_at)}</p>
    ${decision.after && html`<p><bdi>${decision.after.name}</bdi></p>`}
    ${saying(note)}
    ${review?.text && html`<p>Your review:</p><p class="soft" lang="${review.language}" dir="auto">${excerptOf(review.text)}</p>`}
    ${review?.is_hidden && review.moderation?.decided_at === decided_at && appealOn(review, csrf)}`;
}

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
