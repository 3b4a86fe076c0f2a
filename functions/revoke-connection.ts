import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { notFound } from '../shared/errors.ts';
import { PathParameter } from '../shared/http/request.ts';
import { ClientId } from '../shared/oauth/application.ts';
import { deleteGrants } from '../shared/oauth/grant-repository.ts';
import { nobody } from '../shared/oauth/personal-token-repository.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';
import { batchDelete } from '../shared/table/batch.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ client_id: PathParameter('Application', ClientId) }),
});

export const handler = page(request, async ({ caller, path }) => {
  // Personal tokens are not connections. Each is revoked separately on its own page.
  if (path.client_id === nobody) throw notFound('Application');
  await deleteGrants(caller.user_id, path.client_id, batchDelete);
  return { location: `${authUrl()}/account/connections`, notice: 'connection-revoked' };
});
