import { Option } from 'commander';
import * as v from 'valibot';
import { type Scope, scopes } from '../../shared/base/routes.ts';
import { isoOf } from '../../shared/base/time.ts';
import { listOf, Name, Uuid } from '../../shared/base/values.ts';
import { ClientId } from '../../shared/core/oauth/application.ts';
import { findApplications } from '../../shared/core/oauth/application-repository.ts';
import { openToken } from '../../shared/core/oauth/credentials.ts';
import { type Grant, scopesOf, tokenResponse } from '../../shared/core/oauth/grant.ts';
import {
  deleteGrants,
  findGrant,
  insertGrant,
  listGrants,
  listGrantsOf,
} from '../../shared/core/oauth/grant-repository.ts';
import {
  createPersonalToken,
  lifetimes,
} from '../../shared/core/oauth/personal-token-repository.ts';
import { findUsers, getUser } from '../../shared/core/user/user-repository.ts';
import { getApplication } from './application.ts';
import { type AdminCommand, as, Count } from './command.ts';

const Lifetime = v.pipe(
  v.string(),
  v.transform(Number),
  v.picklist(lifetimes, `must be ${lifetimes.join(', ')}`),
);

const scopeOption = new Option(
  '--scope <scopes>',
  `any of ${scopes.join(',')}, also repeated (default: none, which may read the account of the user)`,
).argParser((value, earlier: Scope[] = []) => [
  ...new Set([...earlier, ...as(listOf(scopes))(value)]),
]);

interface Options {
  user: string;
  client: string;
  name: string;
  scope?: Scope[];
  days: v.InferOutput<typeof Lifetime>;
  expiresIn?: number;
}

export function addTokenCommands(admin: AdminCommand): void {
  const token = admin.command('token').description('access of applications to accounts');

  token
    .command('list')
    .description('lists the grants of an account or to an application, oldest first')
    .option('--user <user id>', 'the account', as(Uuid))
    .option('--client <client id>', 'the application', as(ClientId))
    .answer(async ({ user, client }: Partial<Options>, command: AdminCommand) => {
      if (user !== undefined) {
        await getUser(user);
        return { tokens: await presentGrants(await listGrants(user, client)) };
      }
      if (client === undefined) {
        return command.error(
          "error: option '--user <user id>' or '--client <client id>' not specified",
        );
      }
      await getApplication(client);
      return { tokens: grantsOf(client) };
    });

  token
    .command('show')
    .description('shows the owner of a token and whether it is valid, for example after a leak')
    .argument('<token>', 'an access or refresh token')
    .answer(showToken);

  token
    .command('create')
    .description(
      'creates a personal access token of an account, for scripts without an application',
    )
    .required('--user <user id>', 'the account', Uuid)
    .required('--name <name>', 'the purpose of the token', Name(64))
    .addOption(scopeOption)
    .option('--days <days>', `the lifetime in days: ${lifetimes.join(', ')}`, as(Lifetime), 30)
    .answer(async ({ user: user_id, name, scope: scopes = [], days }: Options) => {
      const token = await createPersonalToken({ user_id, name, scopes, days });
      return {
        access_token: token.access_token,
        expires: isoOf(token.expires_at),
      };
    });

  token
    .command('issue')
    .description(
      'grants an application access, as a user does by consenting, and prints its tokens',
    )
    .required('--user <user id>', 'the account', Uuid)
    .required('--client <client id>', 'the application', ClientId)
    .addOption(scopeOption)
    .option('--expires-in <seconds>', 'the lifetime of the access token (default: 3600)', as(Count))
    .answer(async ({ user: user_id, client, scope = [], expiresIn }: Options) =>
      tokenResponse(await insertGrant({ user_id, client_id: client, scopes: scope }), expiresIn),
    );

  token
    .command('revoke')
    .description('revokes the grants of an account, to one application or to all')
    .required('--user <user id>', 'the account', Uuid)
    .option('--client <client id>', 'only the grant to this application', as(ClientId))
    .answer(async ({ user, client }: { user: string; client?: string }) => {
      const revoked = await deleteGrants(user, client);
      // A deleted account or application has no grants. An unknown id is an error.
      if (revoked === 0) {
        await getUser(user);
        if (client !== undefined) await getApplication(client);
      }
      return { revoked };
    });
}

/** Presents grants with the names of user and application, without the secret parts. */
export async function presentGrants(grants: readonly Grant[]) {
  const applications = await findApplications(grants.map(({ client_id }) => client_id));
  const users = await findUsers([...new Set(grants.map(({ user_id }) => user_id))]);
  return grants.map(({ user_id, client_id, scopes, created, renewed }) => ({
    user_id,
    display_name: users.get(user_id)?.display_name ?? null,
    client_id,
    application: applications.get(client_id)?.name ?? null,
    scopes: scopes.join(' '),
    created,
    renewed,
  }));
}

async function* grantsOf(clientId: string) {
  for await (const grants of listGrantsOf(clientId)) yield* await presentGrants(grants);
}

async function showToken(text: string) {
  for (const kind of ['access', 'refresh'] as const) {
    const content = await openToken(kind, text);
    if (!content) continue;
    const grant = await findGrant(content, { consistent: true });
    const { user_id, client_id, generation, expires_at } = content;
    const isCurrent =
      kind === 'access' ? expires_at > Date.now() / 1000 : generation === grant?.generation;
    return {
      kind,
      is_good: grant !== undefined && isCurrent,
      user_id,
      client_id,
      scopes: grant ? scopesOf(grant, content).join(' ') : null,
      expires: kind === 'access' ? isoOf(expires_at) : null,
    };
  }
  throw new Error('this is not a token of this stack, or its key has been retired');
}
