import * as v from 'valibot';
import { identityOfAddress } from '../../infra/local/sign-in/subject.ts';
import { runningStack } from '../../infra/local/storage/connect.ts';
import { notFound } from '../../shared/base/errors.ts';
import { pick } from '../../shared/base/pick.ts';
import { Matching, Uuid } from '../../shared/base/values.ts';
import { listApplications } from '../../shared/core/oauth/application-repository.ts';
import { listGrants } from '../../shared/core/oauth/grant-repository.ts';
import type { Grounds } from '../../shared/core/report/decision.ts';
import { insertUser, setModerator } from '../../shared/core/user/name-repository.ts';
import { DisplayName, Email, presentOwnProfile, presentUser } from '../../shared/core/user/user.ts';
import {
  type Account,
  findAccount,
  getUser,
  listAccounts,
} from '../../shared/core/user/user-repository.ts';
import {
  deleteAccount,
  findOrCreateUser,
  type LeftOut,
  linkIdentity,
  relink,
} from '../../shared/features/account/public.ts';
import { decideUser, listHiddenClaims } from '../../shared/features/moderation/public.ts';
import { type AdminCommand, as, found, type GlobalOptions } from './command.ts';
import { asOperator, withReason } from './moderation.ts';
import { presentGrants } from './token.ts';

interface ListOptions {
  find?: string;
  moderators?: boolean;
  blocked?: boolean;
}

async function* only(batches: AsyncIterable<Account[]>, isListed: (account: Account) => boolean) {
  for await (const batch of batches) yield batch.filter(isListed);
}

type LinkOptions = { issuer?: string; subject?: string; identity?: string };
/** Why accounts stay where they are. */
const leftOut: Readonly<Record<LeftOut, string>> = {
  'no-sign-in': 'nobody signs in to it',
  'other-issuer': 'of another issuer',
  'no-verified-address': 'without a verified address',
  'address-waits': 'has the address of another account that waits',
  'not-open': 'was not open to claims',
  changes: 'changes now',
};

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
    .option('--moderators', 'only moderators')
    .option('--blocked', 'only blocked accounts')
    .answer(async ({ find = '', moderators = false, blocked = false }: ListOptions) => {
      const fields = ['id', 'display_name', 'email', 'sign_in_email', 'musicdb_username'] as const;
      const isListed = ({ user }: Account) =>
        (!moderators || user.is_moderator === true) && (!blocked || user.blocked_at !== undefined);
      const accounts = only(listAccounts(), isListed);
      return { users: found(find, fields, accounts, presentAccount) };
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
      const { name: display_name, email } = options;
      const profile = { display_name, email, musicdb_username: null };
      // The embedded identity provider uses the name as subject.
      const identity = issuer !== null && { issuer, subject: display_name.trim() };
      return presentUser(
        await (identity
          ? findOrCreateUser({ ...identity, ...profile })
          : insertUser({ ...profile, email: email ?? null })),
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
    .command('move')
    .description(
      'lets another address sign in to an account, instead of the one before, which is told. Where people sign in by mail',
    )
    .argument('<user id>', 'the account', as(Uuid))
    .required('--to <address>', 'the address that signs in from now on', Email)
    .option('--dry-run', 'says what would change, and changes nothing')
    .answer(
      async (
        id: string,
        { to, dryRun = false }: { to: string; dryRun?: boolean },
        command: AdminCommand,
      ) => {
        const { stack, dataDir } = command.optsWithGlobals<GlobalOptions>();
        const identity = identityOfAddress(to, stack === undefined ? dataDir : undefined);
        const account = await findAccount(id);
        if (!account) throw notFound('User');
        const linked = await linkIdentity(id, identity, { tells: true, isDryRun: dryRun });
        const { display_name } = account.user;
        const from = account.contact.sign_in_email ?? null;
        return { id, display_name, from, to, ...linked, is_dry_run: dryRun };
      },
    );

  user
    .command('relink')
    .description(
      'lets people of one identity provider claim their accounts at another one, once, by their verified addresses; reads all accounts',
    )
    .required('--from <url>', 'the issuer of the present identities', v.string())
    .required('--to <url>', 'the issuer at which they may be claimed', v.string())
    .option('--undo', 'ends this for accounts that nobody has claimed yet')
    .answer(async ({ from, to, undo }: { from: string; to: string; undo?: true }) => {
      const { accounts, left_out } = await relink(from, to, undo);
      const reasons = Object.entries(left_out) as [LeftOut, number][];
      return {
        accounts,
        left_out: Object.fromEntries(reasons.map(([name, count]) => [leftOut[name], count])),
      };
    });

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
  const { email_verified = false, sign_in_email = null } = contact;
  return {
    ...presentOwnProfile(user, contact),
    email_verified,
    sign_in_email,
    is_moderator,
    blocked_at,
  };
}
