import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../auth-url.ts';
import { PathId, PathParameter } from '../../http/request.ts';
import { type Application, ClientId } from '../../oauth/application.ts';
import { keysOf } from '../../secrets.ts';
import { WebhookAddress } from '../../webhooks/address.ts';
import { webhookSecret } from '../../webhooks/signature.ts';
import {
  type MessageType,
  messageTypes,
  signingIds,
  type Webhook,
} from '../../webhooks/webhook.ts';
import { countAhead, getOwnWebhook } from '../../webhooks/webhook-repository.ts';
import { confirmation } from '../form/choices.ts';
import { blank, type FormState, faultOf, field } from '../form/fields.ts';
import { csrfField, type Html, type Page, type Visitor } from '../frame/layout.ts';
import { counted, minuteOf } from '../frame/words.ts';
import { applicationPath } from './application-path.ts';

// Pages of webhooks for the owner of an application.

/** The path parameters of a webhook's page. */
export const WebhookPath = v.object({
  client_id: PathParameter('Application', ClientId),
  webhook_id: PathId('Webhook'),
});

/** Checkboxes by type of message. */
const boxes = {
  published: ['review.published', 'A review is published, or public again'],
  edited: ['review.edited', 'A review is edited'],
  voted: ['review.voted', 'The votes on a review change'],
  removed: ['review.removed', 'A review is deleted or hidden'],
} as const satisfies Record<string, readonly [MessageType, string]>;
type Box = keyof typeof boxes;

const ticked = v.optional(v.literal('yes'));

/** Fields of the form of a webhook. */
export const webhookFields = {
  address: WebhookAddress,
  published: ticked,
  edited: ticked,
  voted: ticked,
  removed: ticked,
};

/** Returns the types of messages that are ticked. */
export function typesIn(form: Partial<Record<Box, 'yes'>>): MessageType[] {
  const names = Object.keys(boxes) as Box[];
  return names.flatMap((name) => (form[name] ? boxes[name][0] : []));
}

/** The path of a webhook's page for its owner, below {auth_url}. */
export function webhookPath({ client_id, id }: Pick<Webhook, 'client_id' | 'id'>): string {
  return `${applicationPath(client_id)}/webhooks/${id}`;
}

/** The section of an application's page: its webhooks, and the form for another one. */
export function webhookSection(
  { client_id }: Application,
  webhooks: readonly Webhook[],
  csrf: string,
): Html {
  return html`<section>
    <h2>Webhooks</h2>
    <p>
      A webhook tells your server of changes to reviews, usually within a minute.
      <a href="${authUrl()}/docs/webhooks">How to receive them</a>
    </p>
    ${
      webhooks.length > 0 &&
      html`<ul class="plain">
        ${webhooks.map(
          (webhook) => html`<li>
            <h3><a href="${authUrl()}${webhookPath(webhook)}">${webhook.address}</a></h3>
            ${stateOf(webhook)}
          </li>`,
        )}
      </ul>`
    }
    ${webhooks.length < 2 && webhookForm(`${applicationPath(client_id)}/webhooks`, csrf, blank)}
  </section>`;
}

/** Page of a new webhook's form with its errors. */
export function newWebhookPage(clientId: string, { csrf }: Visitor, filled: FormState): Page {
  return {
    title: 'New webhook',
    content: html`${faultOf(filled)}
      <section>
        ${webhookForm(`${applicationPath(clientId)}/webhooks`, csrf, filled)}
        <p><a href="${authUrl()}${applicationPath(clientId)}">Discard changes</a></p>
      </section>`,
  };
}

/** Page of a webhook's submitted forms with their errors. */
export async function invalidWebhookPage(
  { client_id, webhook_id }: v.InferOutput<typeof WebhookPath>,
  { user, csrf }: Visitor,
  filled: FormState,
): Promise<Page> {
  const webhook = await getOwnWebhook(client_id, webhook_id, user.id);
  const path = webhookPath(webhook);
  const isReplay = filled.values.action === 'replay';
  return {
    title: 'Webhook',
    content: html`${faultOf(filled)}
      <section>
        ${isReplay ? replayForm(path, csrf, filled) : webhookForm(path, csrf, filled, webhook)}
        <p><a href="${authUrl()}${path}">Discard changes</a></p>
      </section>`,
  };
}

/** Page of a webhook for its owner. Throws ApiError 404 if the user does not own it. */
export async function webhookPage(
  { client_id, webhook_id }: v.InferOutput<typeof WebhookPath>,
  { user, csrf }: Visitor,
): Promise<Page> {
  const webhook = await getOwnWebhook(client_id, webhook_id, user.id);
  const path = webhookPath(webhook);
  const act = (action: string, label: string, more: Html | '' = '') =>
    actionForm(path, csrf, { action, label, more });
  const { state, stuck } = webhook;
  return {
    title: 'Webhook',
    content: html`<section>
        ${stateOf(webhook)}
        <dl>
          <dt>Address</dt><dd><code>${webhook.address}</code></dd>
          <dt>Last message</dt><dd>${lastOf(webhook)}</dd>
          <dt>Ahead</dt><dd>${await aheadOf(webhook)}</dd>
        </dl>
        ${
          stuck &&
          html`<p>The receiver refuses the message <code>${stuck.id}</code>, and later ones wait.</p>
          ${act('skip', 'Skip this message', html`<input type="hidden" name="message" value="${stuck.id}">`)}`
        }
        ${act('test', 'Send a test')}
        ${state === 'on' && act('pause', 'Pause')}
        ${(state === 'paused' || state === 'off') && act('continue', 'Continue')}
        <p><a href="${authUrl()}${applicationPath(client_id)}">Back to the application</a></p>
      </section>
      ${await secretSection(webhook, act)}
      <section>
        <h2>Address and messages</h2>
        ${webhookForm(path, csrf, blank, webhook)}
      </section>
      ${
        state !== 'new' &&
        html`<section>
        <h2>Replay</h2>
        <p>Sends everything again that has changed since a time of the last 30 days.</p>
        ${replayForm(path, csrf, blank)}
      </section>`
      }
      <section class="end">
        <h2>Delete webhook</h2>
        <form method="post" action="${authUrl()}${path}">
          ${csrfField(csrf)}
          <input type="hidden" name="action" value="delete">
          ${confirmation('confirm', 'Delete this webhook and its place')}
          <button class="danger">Delete webhook</button>
        </form>
      </section>`,
  };
}

function actionForm(
  path: string,
  csrf: string,
  { action, label, more }: { action: string; label: string; more: Html | '' },
) {
  return html`<form method="post" action="${authUrl()}${path}">
    ${csrfField(csrf)}
    <input type="hidden" name="action" value="${action}">
    ${more}
    <button class="quiet">${label}</button>
  </form>`;
}

async function secretSection(
  webhook: Webhook,
  act: (action: string, label: string) => Html,
): Promise<Html> {
  const [key] = await keysOf('WEBHOOK_KEYS');
  const { previous_secret } = webhook;
  const hasTwo = signingIds(webhook).length > 1;
  return html`<section>
    <h2>Secret</h2>
    <p>It signs each message (HMAC-SHA256), so that your server knows that the message is from here.</p>
    <details>
      <summary>Show secret</summary>
      <code class="copy">${webhookSecret(webhook.secret_id, key)}</code>
    </details>
    ${
      hasTwo
        ? html`<p>The old secret signs as well until ${minuteOf(previous_secret?.until ?? '')}.</p>`
        : html`<p>If you create a new secret, the old one signs beside it for one more day.</p>
          ${act('secret', 'Create new secret')}`
    }
  </section>`;
}

/** The state of a webhook, as a warning where its owner should act. */
function stateOf({ state, off_reason, failing_since, retry_at }: Webhook): Html {
  if (state === 'off') {
    const reason =
      off_reason === 'gone'
        ? 'its receiver answered 410 (Gone)'
        : 'its receiver has taken no message for 5 days';
    return html`<p class="warning">This webhook is off, because ${reason}. Repair the receiver, then continue.</p>`;
  }
  if (state === 'new') return html`<p>Waits for a successful test of its receiver.</p>`;
  if (state === 'paused') return html`<p>Paused.</p>`;
  if (!failing_since) return html`<p>On.</p>`;
  return html`<p class="warning">On, but its receiver has failed since ${minuteOf(failing_since)}.
    ${retry_at && html`The next attempt is at ${minuteOf(retry_at)}.`}</p>`;
}

function lastOf({ last, test_due }: Webhook): Html {
  if (!last) return html`${test_due ? 'A test is sent within a minute' : 'None yet'}`;
  const { at, type, status, milliseconds, has_succeeded } = last;
  const outcome = has_succeeded ? 'succeeded' : 'failed';
  const answer = status === null ? 'no answer' : `status ${status}`;
  return html`<code>${type}</code> ${outcome}: ${answer} after ${milliseconds} ms, ${minuteOf(at)}`;
}

async function aheadOf(webhook: Webhook): Promise<Html> {
  const ahead = await countAhead(webhook);
  if (!ahead) return html`Unknown: the webhook has no place yet, or its place is over 30 days old`;
  if (ahead.count === 0) return html`Nothing`;
  return html`Changes of ${counted(ahead.count, 'review')}${ahead.isMore && ' or more'}`;
}

function replayForm(path: string, csrf: string, filled: FormState) {
  return html`<form method="post" action="${authUrl()}${path}">
    ${csrfField(csrf)}
    <input type="hidden" name="action" value="replay">
    ${field({
      name: 'from',
      label: 'From',
      hint: 'A time in UTC, such as 2026-01-31 12:00',
      maxlength: 30,
      isRequired: true,
      filled,
    })}
    <button class="quiet">Replay</button>
  </form>`;
}

/** The form of a webhook. Votes are not told unless chosen. */
function webhookForm(path: string, csrf: string, filled: FormState, webhook?: Webhook): Html {
  const isSubmitted = filled !== blank;
  const chosen = webhook?.types ?? messageTypes.filter((type) => type !== 'review.voted');
  const isTicked = (name: Box) =>
    isSubmitted ? filled.values[name] === 'yes' : chosen.includes(boxes[name][0]);
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
      <legend>Tell it when</legend>
      ${(Object.keys(boxes) as Box[]).map(
        (name) => html`<div class="check">
          <input type="checkbox" id="${name}" name="${name}" value="yes"${isTicked(name) && html` checked`}>
          <label for="${name}">${boxes[name][1]}</label>
        </div>`,
      )}
    </fieldset>
    <button>${webhook ? 'Save changes' : 'Register webhook'}</button>
  </form>`;
}
