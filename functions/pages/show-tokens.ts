import { tokensPage } from '../../shared/pages/account/tokens-page.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const handler = page(signedIn({}), (_, { visitor }) => tokensPage(visitor));
