import * as v from 'valibot';
import {
  confirmWebhook,
  continueWebhook,
  deleteWebhook,
  enteredIn,
  invalidWebhookPage,
  pauseWebhook,
  replayWebhook,
  resendMessage,
  rotateWebhookSecret,
  skipMessage,
  testWebhook,
  UtcTime,
  updateWebhook,
  WebhookPath,
  webhookFields,
  webhookPath,
} from '../../shared/features/webhooks/public.ts';
import { applicationPath } from '../../shared/pages/application/application-path.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

/** Actions without fields of their own. */
const plain = {
  test: testWebhook,
  pause: pauseWebhook,
  continue: continueWebhook,
  secret: rotateWebhookSecret,
};

export const request = signedIn({
  path: WebhookPath,
  body: v.variant('action', [
    v.object({ action: v.picklist(Object.keys(plain) as (keyof typeof plain)[]) }),
    v.object({ action: v.literal('save'), ...webhookFields }),
    v.object({ action: v.literal('replay'), from: UtcTime }),
    v.object({ action: v.literal('skip'), message: v.string() }),
    v.object({ action: v.literal('resend'), message: v.string() }),
    v.object({ action: v.literal('confirm'), challenge: v.string() }),
    v.object({ action: v.literal('delete'), confirm: v.optional(v.string()) }),
  ]),
});

export const handler = page(
  request,
  async ({ caller: { user_id }, path: { client_id, webhook_id: id }, body }) => {
    const webhook = { client_id, id, user_id };
    const location = webhookPath(webhook);
    const notice = `webhook-${body.action}` as const;
    switch (body.action) {
      case 'save':
        await updateWebhook(webhook, enteredIn(body));
        break;
      case 'replay':
        await replayWebhook(webhook, body.from);
        break;
      case 'skip':
        await skipMessage(webhook, body.message);
        break;
      case 'resend':
        await resendMessage(webhook, body.message);
        break;
      case 'confirm':
        await confirmWebhook(webhook, body.challenge);
        break;
      case 'delete':
        if (body.confirm !== 'yes') return { location, notice: 'not-ticked' };
        await deleteWebhook(webhook);
        return { location: applicationPath(client_id), notice };
      default:
        await plain[body.action](webhook);
    }
    return { location, notice };
  },
  ({ path }, filled, { visitor }) => invalidWebhookPage(path, visitor, filled),
);
