import type { Scope } from '../routes.ts';
import type { User } from '../user/user.ts';
import { findUsers } from '../user/user-repository.ts';
import type { Application } from './application.ts';
import { findApplications } from './application-repository.ts';
import { listGrants } from './grant-repository.ts';

/** An application that may act for a user. */
export interface Connection {
  application: Application;
  /** Undefined when the account is gone, and the application soon will be. */
  developer: User | undefined;
  /** All that the user has granted it, together. */
  scopes: Scope[];
  grants: {
    count: number;
    /** When the first was made; ISO 8601. */
    first: string;
    /** When one of them last gave tokens, ISO 8601: its access tokens were used within the hour that they lived, so that nothing is written for it. */
    used: string;
  };
}

/** The applications that may act for a user, the first connected first. */
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
