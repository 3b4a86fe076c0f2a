import { bodyOf } from '../../shared/core/http/request.ts';
import {
  enteredIn,
  insertWebhook,
  newWebhookPage,
  webhookFields,
  webhookPath,
} from '../../shared/features/webhooks/public.ts';
import { ApplicationPath } from '../../shared/pages/application/application-path.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

/** Registers a webhook, the same address only once. The next run tests its receiver. */
export const handler = page(
  signedIn({ path: ApplicationPath, body: bodyOf(webhookFields) }),
  async ({ caller, path: { client_id }, body }) => {
    const webhook = await insertWebhook(client_id, caller.user_id, enteredIn(body));
    return { location: webhookPath(webhook), notice: 'webhook-new' };
  },
  ({ path }, filled, { visitor }) => newWebhookPage(path.client_id, visitor, filled),
);
