import { tokensPage } from '../../shared/features/account/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const handler = page(signedIn({}), (_, { visitor }) => tokensPage(visitor));
