// Which mails a person gets, on the account page.
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import type { MailKind } from '../../../core/user/mail-kinds.ts';
import { mailKinds } from '../../../core/user/mail-kinds.ts';
import { wants } from '../../../core/user/mails.ts';
import { isMailing } from '../../../core/user/notice.ts';
import type { Account } from '../../../core/user/user-repository.ts';
import { canModerate } from '../../../core/user/user-type.ts';
import { checkbox } from '../../../pages/form/choices.ts';
import { csrfField, type Html } from '../../../pages/frame/layout.ts';

const words: Readonly<Record<MailKind, string>> = {
  news: 'Moderators have decided on what I wrote',
  desk: 'Something waits for moderators, at most once an hour',
  digest: 'The latest reviews, once a week',
};

/** The settings for mails. Empty if the service sends none. */
export function mailSettings({ user, contact }: Account, csrf: string): Html | '' {
  if (!isMailing()) return '';
  const kinds = mailKinds.filter((kind) => kind !== 'desk' || canModerate(user));
  const { email, email_verified } = contact;
  const isKnown = email !== null && email_verified;
  return html`<section id="mails">
    <h2>Mails</h2>
    <p>${isKnown ? `We write to ${email} when:` : 'Mails go to an address that your sign-in has verified. Your account has none, so you get no mails.'}</p>
    <form method="post" action="${authUrl()}/account/mails">
      ${csrfField(csrf)}
      <input type="hidden" name="shown" value="${kinds.join(' ')}">
      ${kinds.map((kind) => checkbox({ name: kind, words: words[kind], isTicked: wants(contact, kind) }))}
      <button>Save the mails</button>
    </form>
  </section>`;
}
