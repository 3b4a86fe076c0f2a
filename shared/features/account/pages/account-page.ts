import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import type { Decided } from '../../../core/report/decision-log.ts';
import type { User } from '../../../core/user/user.ts';
import type { Account } from '../../../core/user/user-repository.ts';
import { userTypeOf } from '../../../core/user/user-type.ts';
import { blank, displayName, type FormState, faultOf, field } from '../../../pages/form/fields.ts';
import { csrfField, type Page } from '../../../pages/frame/layout.ts';
import { nextPage } from '../../../pages/frame/lists.ts';
import { nameWithRole, personTop } from '../../../pages/frame/person.ts';
import { minuteOf, nameOfType } from '../../../pages/frame/words.ts';
import { excerptOf } from '../../../pages/review/written-parts.ts';
import { decisionOf, saying } from '../../moderation/public.ts';
import { mailSettings, newsSection } from '../../notices/public.ts';
import { appealOn } from './appeal.ts';
import { signInSection } from './move-pages.ts';
import { type OwnReview, ownReviews } from './own-reviews.ts';

/** Contributions that the account page shows: the newest reviews, and a page of decisions. */
interface Contributions {
  /** Absent beside a later page of decisions. */
  written?: readonly OwnReview[] | undefined;
  decided: readonly Decided[];
  cursor?: string | undefined;
}

/** The account page: own reviews and decisions on them, then settings as stored or as sent. */
export function accountPage(
  { user, contact }: Account,
  csrf: string,
  { written, decided: all, cursor }: Contributions = { decided: [] },
  filled: FormState = blank,
): Page {
  // A correction that needed no moderator is no news.
  const decided = all.filter(({ decision }) => decision.moderator_id !== user.id);
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
          ${written && reviews(written)}
          ${decided.length > 0 && moderation(decided, csrf, cursor)}
          ${settings({ user, contact }, csrf, filled)}
          ${signInSection(contact)}
          ${standing(user)}
        </div>
        <div>${ownData()}</div>
      </div>`,
  };
}

/** The newest own reviews, and the ways to all that one has contributed. */
function reviews(written: readonly OwnReview[]) {
  const account = `${authUrl()}/account`;
  return html`<section>
    <h2>Your reviews</h2>
    ${ownReviews(written)}
    <ul class="row">
      ${written.length > 0 && html`<li><a href="${account}/reviews">All your reviews</a></li>`}
      <li><a href="${account}/votes">Your votes</a></li>
      <li><a href="${account}/names">Your corrections</a></li>
    </ul>
  </section>`;
}

/** All that one form saves: the profile, and which mails to send. */
function settings({ user, contact }: Account, csrf: string, filled: FormState) {
  const return_to = filled.values.return_to || undefined;
  const shown_name = user.has_proposed_name ? undefined : user.display_name;
  const shown_email = contact.email ?? '';
  return html`<section id="settings">
    <h2>Settings</h2>
    ${user.has_proposed_name && html`<p>You are new here: keep this name or choose another, then save it.</p>`}
    <form method="post" action="${authUrl()}/account">
      ${csrfField(csrf, { return_to, shown_name, shown_email })}
      ${field({ ...displayName, label: 'Public name', value: contact.proposed_name ?? user.display_name, filled })}
      ${field({
        name: 'email',
        label: 'Email address',
        hint: 'Shown to applications that you connect, not to other people. It changes nothing about how you sign in.',
        type: 'email',
        value: shown_email,
        maxlength: 254,
        autocomplete: 'email',
        filled,
      })}
      ${mailSettings({ user, contact }, filled)}
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
