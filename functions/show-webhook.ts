import { page, signedIn } from '../shared/pages/page.ts';
import { WebhookPath, webhookPage } from '../shared/pages/webhook-pages.ts';

export const handler = page(signedIn({ path: WebhookPath }), ({ path }, { visitor }) =>
  webhookPage(path, visitor),
);
