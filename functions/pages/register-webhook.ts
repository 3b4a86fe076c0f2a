import { bodyOf } from '../../shared/http/request.ts';
import { ApplicationPath } from '../../shared/pages/application/application-path.ts';
import { enteredIn, webhookFields } from '../../shared/pages/application/webhook-form.ts';
import { newWebhookPage, webhookPath } from '../../shared/pages/application/webhook-pages.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { insertWebhook } from '../../shared/webhooks/webhook-repository.ts';

/** Registers a webhook, the same address only once. The next run tests its receiver. */
export const handler = page(
  signedIn({ path: ApplicationPath, body: bodyOf(webhookFields) }),
  async ({ caller, path: { client_id }, body }) => {
    const webhook = await insertWebhook(client_id, caller.user_id, enteredIn(body));
    return { location: webhookPath(webhook), notice: 'webhook-new' };
  },
  ({ path }, filled, { visitor }) => newWebhookPage(path.client_id, visitor, filled),
);
