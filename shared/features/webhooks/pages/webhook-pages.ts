import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../../base/auth-url.ts';
import { keysOf } from '../../../base/secrets.ts';
import { PathId, PathParameter } from '../../../core/http/request.ts';
import { type Application, ClientId } from '../../../core/oauth/application.ts';
import { canModerate } from '../../../core/user/user-type.ts';
import { applicationPath } from '../../../pages/application/application-path.ts';
import { confirmation } from '../../../pages/form/choices.ts';
import { blank, type FormState, faultOf, field } from '../../../pages/form/fields.ts';
import { csrfField, type Html, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { counted, minuteOf } from '../../../pages/frame/words.ts';
import { replayableFrom } from '../decisions.ts';
import { changeIn } from '../message.ts';
import { webhookSecret } from '../signature.ts';
import { signingIds, type Webhook, withTypesFor } from '../webhook.ts';
import { countAhead, getOwnWebhook } from '../webhook-repository.ts';
import { webhookForm } from './webhook-form.ts';
import { outcomeOf, stateOf } from './webhook-words.ts';

// Pages of webhooks for the owner of an application.

/** The path parameters of a webhook's page. */
export const WebhookPath = v.object({
  client_id: PathParameter('Application', ClientId),
  webhook_id: PathId('Webhook'),
});

/** The path of a webhook's page for its owner, below {auth_url}. */
export function webhookPath({ client_id, id }: Pick<Webhook, 'client_id' | 'id'>): string {
  return `${applicationPath(client_id)}/webhooks/${id}`;
}

/** The section of an application's page: its webhooks, and the form for another one. */
export function webhookSection(
  { client_id }: Application,
  webhooks: readonly Webhook[],
  visitor: Visitor,
): Html {
  return html`<section>
    <h2>Webhooks</h2>
    <p>
      A webhook sends changes of reviews to your server, usually within a minute.
      <a href="${authUrl()}/docs/webhooks">How to receive them</a>
    </p>
    ${
      webhooks.length > 0 &&
      html`<ul class="plain">
        ${webhooks.map(
          (webhook) => html`<li>
            <h3><a href="${authUrl()}${webhookPath(webhook)}">${webhook.address}</a></h3>
            ${stateOf(webhook, visitor.user.blocked_at !== undefined)}
          </li>`,
        )}
      </ul>`
    }
    ${webhooks.length < 2 && webhookForm(`${applicationPath(client_id)}/webhooks`, visitor, blank)}
  </section>`;
}

/** Page of a new webhook's form with its errors. */
export function newWebhookPage(clientId: string, visitor: Visitor, filled: FormState): Page {
  return {
    title: 'New webhook',
    content: html`${faultOf(filled)}
      <section>
        ${webhookForm(`${applicationPath(clientId)}/webhooks`, visitor, filled)}
        <p><a href="${authUrl()}${applicationPath(clientId)}">Discard changes</a></p>
      </section>`,
  };
}

/** Page of a webhook's submitted forms with their errors. */
export async function invalidWebhookPage(
  { client_id, webhook_id }: v.InferOutput<typeof WebhookPath>,
  visitor: Visitor,
  filled: FormState,
): Promise<Page> {
  const { user, csrf } = visitor;
  const webhook = await getOwnWebhook(client_id, webhook_id, user.id);
  const path = webhookPath(webhook);
  // The action may be any word.
  const forms = new Map([
    ['replay', () => replayForm(path, csrf, filled)],
    ['confirm', () => confirmationForm(path, csrf, filled)],
  ]);
  const form =
    forms.get(filled.values.action ?? '') ?? (() => webhookForm(path, visitor, filled, webhook));
  return {
    title: 'Webhook',
    content: html`${faultOf(filled)}
      <section>
        ${form()}
        <p><a href="${authUrl()}${path}">Discard changes</a></p>
      </section>`,
  };
}

/** Page of a webhook for its owner. Throws ApiError 404 if the user does not own it. */
export async function webhookPage(
  { client_id, webhook_id }: v.InferOutput<typeof WebhookPath>,
  visitor: Visitor,
): Promise<Page> {
  const { user, csrf } = visitor;
  const stored = await getOwnWebhook(client_id, webhook_id, user.id);
  const webhook = withTypesFor(stored, canModerate(user));
  const path = webhookPath(webhook);
  const act = (action: string, label: string, others = {}) =>
    actionForm(path, csrf, { action, ...others }, html`<button class="quiet">${label}</button>`);
  const { state, stuck } = webhook;
  return {
    title: 'Webhook',
    content: html`<section>
        ${stateOf(webhook, user.blocked_at !== undefined)}
        <dl>
          <dt>Address</dt><dd><code>${webhook.address}</code></dd>
          <dt>Ahead</dt><dd>${await aheadOf(webhook)}</dd>
        </dl>
        ${
          stuck &&
          html`<p>The receiver refuses the message <code>${stuck.id}</code>, and later ones wait.</p>
          ${act('skip', 'Skip this message', { message: stuck.id })}`
        }
        ${act('test', 'Send a test')}
        ${state === 'on' && act('pause', 'Pause')}
        ${(state === 'paused' || state === 'off') && act('continue', 'Continue')}
        <p><a href="${authUrl()}${applicationPath(client_id)}">Back to the application</a></p>
      </section>
      ${state === 'new' && confirmationSection(path, csrf, blank)}
      ${attemptsSection(webhook, act)}
      ${await secretSection(webhook, act)}
      <section>
        <h2>Address and messages</h2>
        ${webhookForm(path, visitor, blank, webhook)}
      </section>
      ${state !== 'new' && replaySection(webhook, path, csrf)}
      <section class="end">
        <h2>Delete webhook</h2>
        <form method="post" action="${authUrl()}${path}">
          ${csrfField(csrf, { action: 'delete' })}
          ${confirmation('confirm', 'Delete this webhook. What lies ahead of it is lost')}
          <button class="danger">Delete webhook</button>
        </form>
      </section>`,
  };
}

/** The last requests to the receiver, the newest first. A message can be sent again. */
function attemptsSection({ attempts, state, resend, test_due }: Webhook, act: Act): Html {
  const waiting = test_due
    ? 'A test is sent within a minute.'
    : resend && html`The message <code>${resend.id}</code> is sent again within a minute.`;
  return html`<section>
    <h2>Last messages</h2>
    ${waiting && html`<p>${waiting}</p>`}
    ${attempts.length === 0 && !waiting && html`<p>None yet.</p>`}
    ${
      attempts.length > 0 &&
      html`<ul class="plain">
        ${attempts.toReversed().map(
          (attempt) => html`<li>
            <h3>${attempt.type}</h3>
            <p class="${attempt.cause ? 'fault' : ''}">${outcomeOf(attempt)}, after ${attempt.milliseconds} ms.</p>
            <p class="soft"><code>${attempt.id}</code>, ${minuteOf(attempt.at)}</p>
            ${changeIn(attempt.id) && state !== 'new' && act('resend', 'Send again', { message: attempt.id })}
          </li>`,
        )}
      </ul>`
    }
  </section>`;
}

/** The form for a receiver that shows the challenge in its log and cannot answer it. */
function confirmationSection(path: string, csrf: string, filled: FormState): Html {
  return html`<section>
    <h2>Confirm by hand</h2>
    <p>
      Some services, such as Zapier or a queue, cannot answer a test. Find the test in the log of yours, and paste its
      challenge here.
    </p>
    ${confirmationForm(path, csrf, filled)}
  </section>`;
}

function confirmationForm(path: string, csrf: string, filled: FormState) {
  const content = html`${field({ name: 'challenge', label: 'Challenge', maxlength: 100, isRequired: true, filled })}
    <button class="quiet">Confirm address</button>`;
  return actionForm(path, csrf, { action: 'confirm' }, content);
}

/** Renders the button of an action, with the hidden fields that it needs. */
type Act = (action: string, label: string, others?: Readonly<Record<string, string>>) => Html;

function actionForm(
  path: string,
  csrf: string,
  hidden: { action: string } & Readonly<Record<string, string>>,
  content: Html,
) {
  return html`<form method="post" action="${authUrl()}${path}">
    ${csrfField(csrf, hidden)}
    ${content}
  </form>`;
}

async function secretSection(webhook: Webhook, act: Act): Promise<Html> {
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

async function aheadOf(webhook: Webhook): Promise<Html> {
  const ahead = await countAhead(webhook);
  if (!ahead) return html`Unknown: the webhook has not begun, or stands before what is kept`;
  if (ahead.count === 0) return html`Nothing`;
  return html`Changes of ${counted(ahead.count, 'review')}${ahead.isMore && ' or more'}`;
}

/** The form for a replay, or the time of the next one, because there is one an hour. */
function replaySection(webhook: Webhook, path: string, csrf: string): Html {
  const next = replayableFrom(webhook);
  return html`<section>
    <h2>Replay</h2>
    <p>
      Sends everything again that has changed since a time of the last 30 days, once an hour. New changes wait until
      it has ended.
    </p>
    ${
      next > Date.now()
        ? html`<p>The next replay can begin at ${minuteOf(new Date(next).toISOString())}.</p>`
        : replayForm(path, csrf, blank)
    }
  </section>`;
}

function replayForm(path: string, csrf: string, filled: FormState) {
  const content = html`${field({
    name: 'from',
    label: 'From',
    hint: 'A time in UTC, such as 2026-01-31 12:00',
    maxlength: 30,
    isRequired: true,
    filled,
  })}
    <button class="quiet">Replay</button>`;
  return actionForm(path, csrf, { action: 'replay' }, content);
}
