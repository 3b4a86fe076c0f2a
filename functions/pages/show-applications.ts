import { applicationsPage } from '../../shared/features/webhooks/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const handler = page(signedIn({}), (_, { visitor }) => applicationsPage(visitor));
