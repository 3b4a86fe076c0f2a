import type { Command } from 'commander';
import { backUp, restore } from '../../infra/local/backup.ts';
import { connect, runningStack } from '../../infra/local/connect.ts';
import { noteDeed } from '../../shared/health/health.ts';
import { show } from './command.ts';

/** Backups of the data folder on this machine. */
export function addBackupCommands(admin: Command): void {
  admin
    .command('backup')
    .summary('copies the database and the keys to a new folder, beside traffic')
    .description(
      'copies the database and the keys of this machine to a new folder. The service may run meanwhile. Keep the copy as secret as the data folder: it holds the keys',
    )
    .argument('<folder>', 'where to: a new folder')
    .action(async (folder: string, _: object, command: Command) => {
      const dataDir = prepare(command);
      const copied = await backUp(dataDir, folder);
      if (isRunning(dataDir)) {
        connect(dataDir);
        await noteDeed('backup');
      }
      await show(command, copied);
    });

  admin
    .command('restore')
    .summary('copies a backup to an empty data folder')
    .description(
      'copies a backup to the data folder, which must hold no data; then start the service',
    )
    .argument('<folder>', 'the backup')
    .action(async (folder: string, _: object, command: Command) => {
      await show(command, restore(folder, prepare(command)));
    });
}

/** Gives the data folder. What is written from now on is private. */
function prepare(command: Command): string {
  const { stack, dataDir } = command.optsWithGlobals<{ stack?: string; dataDir: string }>();
  if (stack !== undefined) {
    command.error(
      "error: option '--stack' is not for this: AWS keeps backups of a stack, and infra/aws/README.md says how to restore one",
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
