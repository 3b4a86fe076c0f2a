import { ApplicationPath, applicationPage } from '../shared/pages/application-pages.ts';
import { page, signedIn } from '../shared/pages/page.ts';

export const handler = page(signedIn({ path: ApplicationPath }), ({ path }, { visitor }) =>
  applicationPage(path.client_id, visitor),
);
