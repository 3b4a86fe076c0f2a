import { applicationsPage } from '../../shared/pages/application/application-pages.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const handler = page(signedIn({}), (_, { visitor }) => applicationsPage(visitor));
