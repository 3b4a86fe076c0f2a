import * as v from 'valibot';
import { PathParameter } from '../../core/http/request.ts';
import { ClientId } from '../../core/oauth/application.ts';

/** The path parameter of an application's pages. */
export const ApplicationPath = v.object({ client_id: PathParameter('Application', ClientId) });

/** The path of an application's page for its owner, below {auth_url}. */
export function applicationPath(client_id: string): string {
  return `/account/applications/${client_id}`;
}
