import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import * as v from 'valibot';
import type { KeySecret } from '../infra/aws/rotate-keys.ts';
import { connect } from '../infra/local/connect.ts';
import { parseScopes } from '../shared/oauth/scopes.ts';
import type { Scope } from '../shared/routes.ts';
import { canonicalUuid } from '../shared/values.ts';

/** The operator's tool: one JSON document on stdout, all else on stderr; exit status 0, 1 (failed) or 2 (usage). */
const admin = new Command('admin')
  .description(
    "The operator's tool, for the local stack that runs on the data folder, or one on AWS.",
  )
  .option('--data-dir <folder>', 'the data folder of the stack', process.env.DATA_DIR ?? '.data')
  .option('--stack <name>', 'a stack on AWS instead, such as review-service')
  .configureOutput({ writeOut: (text) => process.stderr.write(text) })
  .showHelpAfterError()
  .exitOverride();

const user = admin.command('user').description('accounts');
user
  .command('create')
  .description('creates an account, as a first sign-in does')
  .requiredOption('--name <name>', 'the public name')
  .option('--email <address>')
  .action(
    answer(async ({ name, email = null }: { name: string; email?: string | null }) => {
      const { DisplayName, Email, presentUser } = await import('../shared/user/user.ts');
      const { insertUser } = await import('../shared/user/user-repository.ts');
      const profile = check(v.object({ name: DisplayName, email: v.nullable(Email) }), {
        name,
        email,
      });
      return presentUser(
        await insertUser({
          display_name: profile.name,
          email: profile.email,
          musicdb_username: null,
        }),
      );
    }),
  );

const app = admin.command('app').description('applications that act for users');
app
  .command('create')
  .description('registers an application')
  .requiredOption('--owner <user id>', 'the account that owns it', uuid)
  .requiredOption('--name <name>')
  .requiredOption('--desc <text>', 'what it does')
  .requiredOption('--website <url>')
  .requiredOption('--redirect-uri <url>', 'https, or http on a loopback host; no fragment')
  .action(
    answer(async ({ owner, redirectUri, ...rest }: Record<string, string>) => {
      const { Registration, presentApplication } = await import('../shared/oauth/application.ts');
      const { insertApplication } = await import('../shared/oauth/application-repository.ts');
      const registration = check(Registration, { ...rest, redirect_uri: redirectUri });
      return presentApplication(await insertApplication(owner ?? '', registration), true);
    }),
  );

const token = admin.command('token').description('access of an application to an account');
token
  .command('issue')
  .description('grants an application access, as a user does by consenting, and gives its tokens')
  .requiredOption('--user <user id>', 'the account', uuid)
  .requiredOption('--client <client id>', 'the application', clientId)
  .option('--scope <scopes>', 'any of review,vote,user', scopes, [])
  .option('--expires-in <seconds>', 'lifetime of the access token', positive)
  .action(
    answer(
      async (options: { user: string; client: string; scope: Scope[]; expiresIn?: number }) => {
        const { tokenResponse } = await import('../shared/oauth/grant.ts');
        const { insertGrant } = await import('../shared/oauth/grant-repository.ts');
        const grant = await insertGrant({
          user_id: options.user,
          client_id: options.client,
          scopes: options.scope,
        });
        return tokenResponse(grant, options.expiresIn);
      },
    ),
  );
token
  .command('revoke')
  .description('takes back all that an account has granted an application')
  .requiredOption('--user <user id>', 'the account', uuid)
  .requiredOption('--client <client id>', 'the application', clientId)
  .action(
    answer(async (options: { user: string; client: string }) => {
      const { deleteGrants } = await import('../shared/oauth/grant-repository.ts');
      return { revoked: await deleteGrants(options.user, options.client) };
    }),
  );

const review = admin.command('review').description('moderation');
for (const [verb, is_hidden, description] of [
  ['hide', true, 'takes a review from the public'],
  ['unhide', false, 'brings a hidden review back'],
] as const) {
  review
    .command(verb)
    .description(description)
    .argument('<review id>', undefined, uuid)
    .action(
      answer(async (id: string) => {
        const { setHidden } = await import('../shared/review/review-repository.ts');
        await setHidden(id, is_hidden);
        return { id, is_hidden };
      }),
    );
}

admin
  .command('report')
  .description('spam reports')
  .command('list')
  .description('lists all reports, oldest first')
  .action(
    answer(async () => {
      const { listReports } = await import('../shared/review/report-repository.ts');
      return { reports: await listReports() };
    }),
  );

for (const name of ['aggregates', 'feed']) {
  admin
    // The second is what it was called before.
    .command(name, { hidden: name === 'feed' })
    .description('totals and rank trees, which are derived from the stream')
    .command('rebuild')
    .description('computes them anew from the table: after an incident, or a bulk load')
    .action(
      answer(async () => {
        const { rebuildTotals } = await import('../shared/aggregates/rebuild.ts');
        const { showProgress } = await import('./progress.ts');
        return rebuildTotals(showProgress('Reading'));
      }),
    );
}

admin
  .command('audit')
  .description(
    'holds votes, karma, counts and ratings of every item against a recount; exit status 1 when something differs and is not repaired',
  )
  .option('--repair', 'puts right what differs, where nothing has changed it meanwhile')
  .option('--from <position>', 'goes on where an audit was interrupted: the position it printed')
  .action(
    answer(async (options: { repair?: boolean; from?: string }) => {
      const { runAudit } = await import('./audit.ts');
      return runAudit(options);
    }),
  );

admin
  .command('erase')
  .description(
    'erases what deleted accounts, reviews and applications have left behind: all of it, or that of one',
  )
  .addOption(new Option('--user <user id>', 'only of this account').argParser(uuid))
  .addOption(
    new Option('--review <review id>', 'only of this review').argParser(uuid).conflicts('user'),
  )
  .addOption(
    new Option('--application <client id>', 'only of this application')
      .argParser(clientId)
      .conflicts(['user', 'review']),
  )
  .action(
    answer(async (options: { user?: string; review?: string; application?: string }) => {
      const { eraseLeftovers, findLeftovers } = await import(
        '../shared/account/erase-leftovers.ts'
      );
      const { showProgress } = await import('./progress.ts');
      const { user, review, application } = options;
      const one = user ?? review ?? application;
      if (one === undefined) return eraseLeftovers(await findLeftovers(showProgress('Reading')));
      const erased = await eraseLeftovers({
        users: user === undefined ? [] : [user],
        reviews: review === undefined ? [] : [review],
        applications: application === undefined ? [] : [application],
      });
      if (Object.values(erased).every((count) => count === 0)) {
        throw new Error(`${one} has not been deleted, so nothing of it was erased`);
      }
      return erased;
    }),
  );

const key = admin.command('key').description('the keys of a stack on AWS');
const secret = new Option('--secret <name>', 'which keys')
  .choices(['SIGNING_KEYS', 'SESSION_KEYS'])
  .default('SIGNING_KEYS');
key
  .command('rotate')
  .description('makes a new key; takes six minutes, until every function knows it')
  .addOption(secret)
  .action(
    answer(async (options: { secret: KeySecret }) => {
      const { rotateKey } = await import('../infra/aws/rotate-keys.ts');
      return rotateKey(options.secret);
    }),
  );
key
  .command('retire')
  .description('drops the oldest key, and with it all that was made with it')
  .addOption(secret)
  .action(
    answer(async (options: { secret: KeySecret }) => {
      const { retireKey } = await import('../infra/aws/rotate-keys.ts');
      return retireKey(options.secret);
    }),
  );

admin
  .command('seed')
  .description('fills the table with synthetic data, the same for the same options')
  .option('--reviews <number>', 'how many reviews', positive, 1000)
  .option('--users <number>', 'how many users write and vote', positive, 100)
  .option(
    '--entities <number>',
    'how many entities they review (default: a twentieth of the reviews)',
    positive,
  )
  .option('--seed <number>', 'another number makes other data', positive, 1)
  .action(
    answer(
      async (options: { reviews: number; users: number; entities?: number; seed: number }) => {
        const { seed } = await import('./seed.ts');
        return seed(options);
      },
      { isForDevelopment: true },
    ),
  );

try {
  await admin.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    console.error(`Error: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}

/** An action that works on the stack and prints what it gives; one for development works on no stack on AWS of another kind. */
function answer<A extends unknown[]>(
  action: (...args: A) => Promise<unknown>,
  { isForDevelopment = false } = {},
) {
  return async (...args: A) => {
    const { stack, dataDir } = admin.opts();
    if (stack === undefined) connect(dataDir);
    else {
      const aws = await import('../infra/aws/connect.ts');
      const { environment } = await aws.connect(stack);
      if (isForDevelopment && environment !== 'development') {
        throw new Error(
          `the stack ${stack} was not deployed with environment=development, and this is for no other`,
        );
      }
    }
    console.log(JSON.stringify(await action(...args), null, 2));
  };
}

function check<T extends v.GenericSchema>(schema: T, input: unknown): v.InferOutput<T> {
  const result = v.safeParse(schema, input, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  return admin.error(`error: ${v.getDotPath(issue)} ${issue.message}`);
}

function uuid(value: string): string {
  if (canonicalUuid(value) !== value.toLowerCase())
    throw new InvalidArgumentError('It must be a UUID.');
  return value.toLowerCase();
}

function clientId(value: string): string {
  if (!/^[\da-f]{32}$/.test(value)) throw new InvalidArgumentError('It must be a client id.');
  return value;
}

function positive(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value))
    throw new InvalidArgumentError('It must be a positive number.');
  return Number(value);
}

function scopes(value: string): Scope[] {
  const asked = parseScopes(value);
  if (!asked) throw new InvalidArgumentError('Scopes are review, vote and user.');
  return asked;
}
