import { filesPage } from '../../shared/features/bring/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

/** Shows the form to bring a file of reviews, and the files of the last days. */
export const handler = page(signedIn({}), (_, { visitor }) => filesPage(visitor));
