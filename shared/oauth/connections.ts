import type { Scope } from '../routes.ts';
import type { User } from '../user/user.ts';
import { findUsers } from '../user/user-repository.ts';
import type { Application } from './application.ts';
import { findApplications } from './application-repository.ts';
import { listGrants } from './grant-repository.ts';

/** An application that may act for a user. Times are ISO 8601. */
export interface Connection {
  application: Application;
  /** Undefined if the account was deleted. The application soon will be, too. */
  developer: User | undefined;
  scopes: Scope[];
  grants: {
    count: number;
    first: string;
    /** When one last issued tokens. Uses fall within an hour of this time, and are not recorded. */
    used: string;
  };
}

/** Lists the applications that may act for a user, first connected first. */
export async function listConnections(userId: string): Promise<Connection[]> {
  const byClient = Map.groupBy(await listGrants(userId), ({ client_id }) => client_id);
  const applications = await findApplications([...byClient.keys()]);
  const developers = await findUsers([...applications.values()].map(({ user_id }) => user_id));
  return [...byClient].flatMap(([client_id, grants]) => {
    const application = applications.get(client_id);
    if (!application) return [];
    const [first] = grants;
    const used = grants.map(({ renewed }) => renewed).sort();
    return [
      {
        application,
        developer: developers.get(application.user_id),
        scopes: [...new Set(grants.flatMap(({ scopes }) => scopes))],
        grants: { count: grants.length, first: first?.created ?? '', used: used.at(-1) ?? '' },
      },
    ];
  });
}
