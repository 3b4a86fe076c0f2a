// Which mails a person gets, on the account page.
import { html } from 'hono/html';
import type { MailKind } from '../../../core/user/mail-kinds.ts';
import { mailKinds } from '../../../core/user/mail-kinds.ts';
import { wants } from '../../../core/user/mails.ts';
import { isMailing } from '../../../core/user/notice.ts';
import type { Account } from '../../../core/user/user-repository.ts';
import { canModerate } from '../../../core/user/user-type.ts';
import { checkbox } from '../../../pages/form/choices.ts';
import type { FormState } from '../../../pages/form/fields.ts';
import type { Html } from '../../../pages/frame/layout.ts';
import { mailWords } from '../mail-words.ts';

/** The settings for mails, in the form of the account. Empty if the service sends none. */
export function mailSettings({ user, contact }: Account, { values }: FormState): Html | '' {
  if (!isMailing()) return '';
  const kinds = mailKinds.filter((kind) => kind !== 'desk' || canModerate(user));
  const { email, email_verified } = contact;
  const isKnown = email !== null && email_verified;
  // A box that is not ticked is not sent.
  const isTicked = (kind: MailKind) =>
    values.mails === undefined ? wants(contact, kind) : values[kind] === 'yes';
  return html`<fieldset id="mails">
    <legend>Mails</legend>
    <p>${isKnown ? `We write to ${email} when:` : 'Mails go to an address that your sign-in has verified. Your account has none, so you get no mails.'}</p>
    <input type="hidden" name="mails" value="${kinds.join(' ')}">
    <input type="hidden" name="shown_mails" value="${kinds.filter((kind) => wants(contact, kind)).join(' ')}">
    ${kinds.map((kind) => checkbox({ name: kind, words: mailWords[kind].setting, isTicked: isTicked(kind) }))}
  </fieldset>`;
}
