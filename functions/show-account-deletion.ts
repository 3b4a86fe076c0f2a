import { deletionPage } from '../shared/pages/leaving.ts';
import { page, signedIn } from '../shared/pages/page.ts';

export const handler = page(signedIn({}), ({ caller }, { visitor }) =>
  deletionPage(caller, visitor),
);
