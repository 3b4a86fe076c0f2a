import { invitationsPage } from '../../shared/features/moderation/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

/** Shows moderators the invitations, and how many people joined by each. */
export const handler = page(signedIn({}), (_, { visitor }) => invitationsPage(visitor));
