import { applicationPage } from '../../shared/features/webhooks/public.ts';
import { ApplicationPath } from '../../shared/pages/application/application-path.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const handler = page(signedIn({ path: ApplicationPath }), ({ path }, { visitor }) =>
  applicationPage(path.client_id, visitor),
);
