import { deletionPage } from '../../shared/features/account/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const handler = page(signedIn({}), ({ caller }, { visitor }) =>
  deletionPage(caller, visitor),
);
