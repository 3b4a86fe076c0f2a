import * as v from 'valibot';
import { runningStack } from '../../infra/local/connect.ts';
import { deleteAccount } from '../../shared/account/delete-account.ts';
import { findOrCreateUser } from '../../shared/account/identity-repository.ts';
import { linkIdentity, relink } from '../../shared/account/link.ts';
import { notFound } from '../../shared/errors.ts';
import { decideUser } from '../../shared/moderation/account-decisions.ts';
import type { Grounds } from '../../shared/moderation/decision.ts';
import { listHiddenClaims } from '../../shared/moderation/hidden-claims.ts';
import { listApplications } from '../../shared/oauth/application-repository.ts';
import { listGrants } from '../../shared/oauth/grant-repository.ts';
import { pick } from '../../shared/pick.ts';
import { insertUser, setModerator } from '../../shared/user/name-repository.ts';
import { DisplayName, Email, presentOwnProfile, presentUser } from '../../shared/user/user.ts';
import {
  type Account,
  findAccount,
  getUser,
  listAccounts,
} from '../../shared/user/user-repository.ts';
import { Matching, Uuid } from '../../shared/values.ts';
import { type AdminCommand, as, found, type GlobalOptions } from './command.ts';
import { asOperator, withReason } from './moderation.ts';
import { presentGrants } from './token.ts';

type LinkOptions = { issuer?: string; subject?: string; identity?: string };
const Sha256 = Matching(/^[\da-f]{64}$/, 'must be 64 hexadecimal digits');

export function addUserCommands(admin: AdminCommand): void {
  const user = admin.command('user').description('accounts');

  user
    .command('list')
    .description('lists all accounts, oldest first')
    .option(
      '--find <text>',
      'only accounts with this text in the public name, e-mail address, linked account or id; reads all accounts',
    )
    .answer(async ({ find = '' }: { find?: string }) => {
      const fields = ['id', 'display_name', 'email', 'musicdb_username'] as const;
      return { users: found(find, fields, listAccounts(), presentAccount) };
    });

  user
    .command('show')
    .description(
      'shows an account, its applications, its grants, and the hidden reviews that it has deleted',
    )
    .argument('<user id>', 'the account', as(Uuid))
    .answer(async (id: string) => {
      const [account, applications, grants, claims] = await Promise.all([
        findAccount(id),
        listApplications(id),
        listGrants(id),
        listHiddenClaims(id),
      ]);
      if (!account) throw notFound('User');
      return {
        ...presentAccount(account),
        applications: applications.map((one) => pick(one, ['client_id', 'name', 'created'])),
        hidden_and_deleted: claims.map(({ user_id: _, ...claim }) => claim),
        tokens: await presentGrants(grants),
      };
    });

  user
    .command('create')
    .description(
      'creates an account. On this machine, sign in to it by its name; an existing account of this name is returned. On AWS nobody can sign in to it',
    )
    .required('--name <name>', 'the public name', DisplayName)
    .option('--email <address>', 'the e-mail address', as(Email))
    .answer(async (options: { name: string; email?: string }, command: AdminCommand) => {
      const { stack, dataDir } = command.optsWithGlobals<GlobalOptions>();
      const issuer = stack === undefined ? runningStack(dataDir).identity_provider : null;
      const { name: display_name, email = null } = options;
      const profile = { display_name, email, musicdb_username: null };
      // The embedded identity provider uses the name as subject.
      const identity = issuer !== null && { issuer, subject: display_name.trim() };
      return presentUser(
        await (identity ? findOrCreateUser({ ...identity, ...profile }) : insertUser(profile)),
      );
    });

  for (const [verb, is_moderator, description] of [
    ['promote', true, 'makes a user a moderator, who decides on reported reviews on a page'],
    ['demote', false, 'ends the role of moderator'],
  ] as const) {
    user
      .command(verb)
      .description(description)
      .argument('<user id>', 'the account', as(Uuid))
      .answer(async (id: string) => {
        await setModerator(id, is_moderator);
        return { id, is_moderator };
      });
  }

  user
    .command('link')
    .description(
      'lets an identity sign in to an account, instead of the one before. Name it by issuer and subject, or by the hash that the log has',
    )
    .argument('<user id>', 'the account', as(Uuid))
    .option('--issuer <url>', 'the issuer of the identity provider')
    .option('--subject <text>', 'the id of the person there, the claim `sub`')
    .option('--identity <sha256>', 'the hash of an earlier identity, to go back to it', as(Sha256))
    .answer(async (id: string, options: LinkOptions, command: AdminCommand) => {
      const { issuer, subject, identity } = options;
      if (identity !== undefined) return { id, ...(await linkIdentity(id, { sha256: identity })) };
      if (issuer === undefined || subject === undefined) {
        return command.error("error: give '--issuer' and '--subject', or '--identity'");
      }
      return { id, ...(await linkIdentity(id, { issuer, subject })) };
    });

  user
    .command('unlink')
    .description('ends the sign-in to an account; its data stays. `user link` links it again')
    .argument('<user id>', 'the account', as(Uuid))
    .answer(async (id: string) => ({ id, ...(await linkIdentity(id, null)) }));

  user
    .command('relink')
    .description(
      'lets people of one identity provider claim their accounts at another one, once, by their verified addresses; reads all accounts',
    )
    .required('--from <url>', 'the issuer of the present identities', v.string())
    .required('--to <url>', 'the issuer at which they may be claimed', v.string())
    .option('--undo', 'ends this for accounts that nobody has claimed yet')
    .answer(({ from, to, undo }: { from: string; to: string; undo?: true }) =>
      relink(from, to, undo),
    );

  withReason(user.command('block'))
    .description('takes away the right to write; the account can still read, and be deleted')
    .argument('<user id>', 'the account', as(Uuid))
    .option(
      '--hide-all',
      'also undoes all that the account did, in the background: reviews, names, proposals and votes',
    )
    .answer(async (id: string, { hideAll, ...grounds }: Grounds & { hideAll?: true }) => {
      await decideUser(id, hideAll ? 'hide_all' : 'block', asOperator(grounds));
      return { id, is_blocked: true };
    });

  withReason(user.command('unblock'))
    .description('gives back the right to write')
    .argument('<user id>', 'the account', as(Uuid))
    .option(
      '--restore-all',
      'also brings back what --hide-all has undone, but for votes, in the background',
    )
    .answer(async (id: string, { restoreAll, ...grounds }: Grounds & { restoreAll?: true }) => {
      const verdict = restoreAll ? 'restore_all' : 'unblock';
      await decideUser(id, verdict, asOperator(grounds));
      return { id, is_blocked: false };
    });

  user
    .command('delete')
    .description('deletes an account with all its content, as its owner can')
    .argument('<user id>', 'the account', as(Uuid))
    .option('--yes', 'skips the confirmation')
    .answer(async (id: string, _: object, command: AdminCommand) => {
      const { display_name } = await getUser(id);
      await command.confirm(`Delete the account of ${display_name}, with all its reviews?`);
      await deleteAccount(id);
      return { id, is_deleted: true };
    });
}

function presentAccount({ user, contact }: Account) {
  const { is_moderator = false, blocked_at = null } = user;
  return { ...presentOwnProfile(user, contact), is_moderator, blocked_at };
}
