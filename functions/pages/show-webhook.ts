import { WebhookPath, webhookPage } from '../../shared/features/webhooks/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const handler = page(signedIn({ path: WebhookPath }), ({ path }, { visitor }) =>
  webhookPage(path, visitor),
);
