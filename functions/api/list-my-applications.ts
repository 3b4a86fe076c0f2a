import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { Caller } from '../../shared/core/http/request.ts';
import { presentApplication } from '../../shared/core/oauth/application.ts';
import {
  findApplication,
  listApplications,
} from '../../shared/core/oauth/application-repository.ts';

export { ApplicationsResponse as response } from '../../shared/core/oauth/presented.ts';
export const request = v.object({ caller: Caller });

export const docs = {
  tag: 'Own account',
  summary: 'List your applications',
  description: 'Only an application of the same user sees the secrets.',
} satisfies Docs<typeof request>;

/** An application of a third party must not learn secrets. */
export const handler = endpoint(request, async ({ caller: { user_id, client_id } }) => {
  const [applications, client] = await Promise.all([
    listApplications(user_id),
    findApplication(client_id),
  ]);
  const isOwn = client?.user_id === user_id;
  const presented = applications.map((application) => presentApplication(application, isOwn));
  return { applications: await Promise.all(presented) };
});
