import { notFound } from '../../shared/base/errors.ts';
import { nobody } from '../../shared/core/oauth/grant.ts';
import { deleteGrants } from '../../shared/core/oauth/grant-repository.ts';
import { ApplicationPath } from '../../shared/pages/application/application-path.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const handler = page(signedIn({ path: ApplicationPath }), async ({ caller, path }) => {
  // Personal tokens are not connections. Each is revoked separately on its own page.
  if (path.client_id === nobody) throw notFound('Application');
  await deleteGrants(caller.user_id, path.client_id);
  return { location: '/account/connections', notice: 'connection-revoked' };
});
