import { Option } from 'commander';
import { backUp, deleteOldBackups, restore } from '../../infra/local/storage/backup.ts';
import { connect, runningStack } from '../../infra/local/storage/connect.ts';
import { folderKeys } from '../../infra/local/storage/key-store.ts';
import { type KeySecret, keySecrets, retireKey, rotateKey } from '../../infra/rotate-keys.ts';
import { recordRun } from '../../shared/base/background/last-run.ts';
import { Uuid } from '../../shared/base/values.ts';
import { ClientId } from '../../shared/core/oauth/application.ts';
import { eraseLeftovers, findLeftovers } from '../../shared/features/account/public.ts';
import { beginEpoch } from '../../shared/features/changes/public.ts';
import { expectKeys } from '../../shared/features/health/public.ts';
import { rebuildAll } from '../../shared/features/transfer/public.ts';
import { runAudit } from '../audit.ts';
import { showProgress } from '../progress.ts';
import { seed } from '../seed.ts';
import { type AdminCommand, as, Count, type GlobalOptions } from './command.ts';

export function addUpkeepCommands(admin: AdminCommand): void {
  admin
    .command('backup')
    .summary('copies the database and the keys to a new folder')
    .description(
      'copies the database and the keys of this machine to a new folder. The service may keep running. The copy contains the keys: keep it as secret as the data folder',
    )
    .argument('<folder>', 'a new folder for the backup')
    .option(
      '--keep <days>',
      'then deletes the backups beside it that are older than so many days',
      as(Count),
    )
    .action(async (folder: string, { keep }: { keep?: number }, command: AdminCommand) => {
      const dataDir = privateFolder(command);
      const copied = await backUp(dataDir, folder);
      const pruned = keep !== undefined && { deleted: deleteOldBackups(folder, keep) };
      if (isRunning(dataDir)) {
        connect(dataDir);
        await recordRun('backup');
      }
      await command.print({ ...copied, ...pruned });
    });

  admin
    .command('restore')
    .summary('copies a backup to an empty data folder')
    .description(
      'copies a backup to the data folder, which must contain no data. Start the service afterwards',
    )
    .argument('<folder>', 'the backup')
    .action((folder: string, _: object, command: AdminCommand) =>
      command.print(restore(folder, privateFolder(command))),
    );

  admin
    .command('aggregates')
    .description('totals and rank trees of lists')
    .command('rebuild')
    .description('recomputes them from the table, after an incident or a bulk load')
    .answer(() => rebuildAll(showProgress('Reading')));

  admin
    .command('changes')
    .description('the change log, which mirrors and webhooks follow')
    .command('restart')
    .summary('makes mirrors and webhooks read everything again')
    .description(
      'begins the change log anew, after the table was replaced by an older copy or changes were lost. Mirrors are answered 410, and webhooks get log.restarted: both then read all reviews again. A restore of a backup on this machine does this by itself',
    )
    .answer(() => beginEpoch());

  admin
    .command('audit')
    .summary('recounts everything and reports differences')
    .description(
      'compares every number in the table with a recount: votes, karma, counts, cases, totals and rank trees. Exit status 1: differences remain. Exit status 3: some items kept changing and could not be checked',
    )
    .option('--repair', 'repairs differences, except of items that change during the audit')
    .answer(runAudit);

  admin
    .command('erase')
    .summary('erases leftovers of deleted data')
    .description(
      'erases leftovers of deleted accounts, reviews and applications: of all of them, or of one',
    )
    .option('--user <user id>', 'only leftovers of this account', as(Uuid))
    .addOption(
      new Option('--review <review id>', 'only leftovers of this review')
        .argParser(as(Uuid))
        .conflicts('user'),
    )
    .addOption(
      new Option('--application <client id>', 'only leftovers of this application')
        .argParser(as(ClientId))
        .conflicts(['user', 'review']),
    )
    .answer(async (one: { user?: string; review?: string; application?: string }) => {
      const [id] = Object.values(one);
      if (id === undefined) return eraseLeftovers(await findLeftovers(showProgress('Reading')));
      const erased = await eraseLeftovers({
        users: [one.user ?? []].flat(),
        reviews: [one.review ?? []].flat(),
        applications: [one.application ?? []].flat(),
      });
      if (Object.values(erased).some((count) => count > 0)) return erased;
      throw new Error(`${id} has not been deleted, so nothing was erased`);
    });

  admin
    .command('seed')
    .summary('fills the table with synthetic data')
    .description('fills the table with synthetic data. The same options give the same data')
    .option('--reviews <number>', 'the number of reviews', as(Count), 1000)
    .option('--users <number>', 'the number of users who write and vote', as(Count), 100)
    .option(
      '--entities <number>',
      'the number of entities (default: a twentieth of the reviews)',
      as(Count),
    )
    .option('--seed <number>', 'the seed of the random data', as(Count), 1)
    .answer(seed, { isForDevelopment: true });

  const key = admin.command('key').description('the keys of tokens and sessions');
  const secret = new Option('--secret <name>', 'which keys')
    .choices(keySecrets)
    .default('SIGNING_KEYS');
  for (const [verb, change, description] of [
    [
      'rotate',
      rotateKey,
      'creates a new key; earlier keys stay valid. Takes 10 seconds on this machine, and six minutes on AWS, until every function has read it',
    ],
    ['retire', retireKey, 'deletes the oldest key; everything made with it becomes invalid'],
  ] as const) {
    key
      .command(verb)
      .description(description)
      .addOption(secret)
      .action(async ({ secret }: { secret: KeySecret }, command: AdminCommand) => {
        const store = await keyStore(command);
        if (verb === 'retire' && secret === 'SIGNING_KEYS' && store.settled > 0) {
          await command.connect();
          await expectKeys();
        }
        await command.print(await change(store, secret));
      });
  }
}

async function keyStore(command: AdminCommand) {
  const { stack, dataDir } = command.optsWithGlobals<GlobalOptions>();
  if (stack === undefined) return folderKeys(dataDir, { isRunning: isRunning(dataDir) });
  await command.connect();
  const { stackKeys } = await import('../../infra/aws/key-store.ts');
  return stackKeys();
}

/** Returns the data folder. Files written from now on are readable by their owner only. */
function privateFolder(command: AdminCommand): string {
  const { stack, dataDir } = command.optsWithGlobals<GlobalOptions>();
  if (stack !== undefined) {
    command.error(
      "error: option '--stack' does not work here: AWS keeps the backups of a stack. To restore one, see infra/aws/README.md",
    );
  }
  process.umask(0o077);
  return dataDir;
}

function isRunning(dataDir: string): boolean {
  try {
    return runningStack(dataDir) !== undefined;
  } catch {
    return false;
  }
}
