import { page, signedIn } from '../shared/pages/page.ts';
import { tokensPage } from '../shared/pages/tokens-page.ts';

export const handler = page(signedIn({}), (_, { visitor }) => tokensPage(visitor));
