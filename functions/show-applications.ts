import { applicationsPage } from '../shared/pages/application-pages.ts';
import { page, signedIn } from '../shared/pages/page.ts';

export const handler = page(signedIn({}), (_, { visitor }) => applicationsPage(visitor));
