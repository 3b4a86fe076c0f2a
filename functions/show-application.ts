import * as v from 'valibot';
import { PathParameter } from '../shared/http/request.ts';
import { ClientId } from '../shared/oauth/application.ts';
import { applicationPage } from '../shared/pages/application-page.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ client_id: PathParameter('Application', ClientId) }),
});

export const handler = page(request, ({ caller, path }, { visitor }) =>
  applicationPage(path.client_id, caller.user_id, visitor.csrf),
);
