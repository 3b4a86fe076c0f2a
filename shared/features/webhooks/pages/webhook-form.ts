import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../../base/auth-url.ts';
import { Uuid } from '../../../base/values.ts';
import { canModerate } from '../../../core/user/user-type.ts';
import { blank, type FormState, field } from '../../../pages/form/fields.ts';
import { csrfField, type Html, type Visitor } from '../../../pages/frame/layout.ts';
import { WebhookAddress } from '../address.ts';
import {
  type MessageType,
  messageTypes,
  typesFor,
  type Webhook,
  type WebhookForm,
} from '../webhook.ts';

// The form of a webhook: its address, and the messages that its owner wants.

/** Labels of the checkboxes. Each has the name of its type. */
const labels: Readonly<Record<MessageType, string>> = {
  'review.published': 'A review is published, or public again',
  'review.edited': 'A review is edited',
  'review.voted': 'The votes on a review change',
  'review.removed': 'A review is deleted or hidden',
  'access.revoked': 'A person revokes the access of your application',
  'user.deleted': 'A person who uses your application deletes the account',
  'entity.edited': 'The name of something reviewed changes',
  'case.opened': 'Something waits for moderators',
};

/** Types that are ticked in a new form. Votes are many, and people only concern some. */
const usual: readonly MessageType[] = ['review.published', 'review.edited', 'review.removed'];

const ticked = v.optional(v.literal('yes'));
const boxes = Object.fromEntries(messageTypes.map((type) => [type, ticked]));

/** A UUID, or undefined if the field is empty. */
const OptionalId = v.optional(
  v.pipe(
    v.string(),
    v.transform((text) => text.trim() || undefined),
    v.optional(Uuid),
  ),
);

/** Fields of the form of a webhook. */
export const webhookFields = {
  address: WebhookAddress,
  ...(boxes as Record<MessageType, typeof ticked>),
  entity_id: OptionalId,
  author_id: OptionalId,
};

/** Returns what is entered in the form. */
export function enteredIn(
  form: { [Type in MessageType]?: 'yes' | undefined } & Omit<WebhookForm, 'types'>,
): WebhookForm {
  const { address, entity_id, author_id } = form;
  return { address, types: messageTypes.filter((type) => form[type]), entity_id, author_id };
}

/** The form of a webhook, or of a new one, which is sent to `path`. */
export function webhookForm(
  path: string,
  { user, csrf }: Visitor,
  filled: FormState,
  webhook?: Webhook,
): Html {
  const chosen = webhook?.types ?? usual;
  const isTicked = (type: MessageType) =>
    filled === blank ? chosen.includes(type) : filled.values[type] === 'yes';
  return html`<form method="post" action="${authUrl()}${path}">
    ${csrfField(csrf)}
    ${webhook && html`<input type="hidden" name="action" value="save">`}
    ${field({
      name: 'address',
      label: 'Address',
      type: 'url',
      hint: webhook
        ? 'A new address has to answer a test first.'
        : 'An https address of your server. It gets a test within a minute, and has to answer it.',
      value: webhook?.address,
      maxlength: 2000,
      isRequired: true,
      filled,
    })}
    <fieldset>
      <legend>Send a message when</legend>
      ${typesFor(canModerate(user)).map(
        (type) => html`<div class="check">
          <input type="checkbox" id="${type}" name="${type}" value="yes"${isTicked(type) && html` checked`}>
          <label for="${type}">${labels[type]}</label>
        </div>`,
      )}
    </fieldset>
    ${field({
      name: 'entity_id',
      label: 'Only one entity',
      hint: 'Its id. Without it, you get the reviews of all entities.',
      value: webhook?.entity_id,
      maxlength: 36,
      filled,
    })}
    ${field({
      name: 'author_id',
      label: 'Only one author',
      hint: 'The id of the user, in place of an entity.',
      value: webhook?.author_id,
      maxlength: 36,
      filled,
    })}
    <button>${webhook ? 'Save changes' : 'Register webhook'}</button>
  </form>`;
}
