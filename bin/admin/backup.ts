import { backUp, restore } from '../../infra/local/backup.ts';
import { connect, runningStack } from '../../infra/local/connect.ts';
import { recordRun } from '../../shared/health/health.ts';
import type { AdminCommand, GlobalOptions } from './command.ts';

export function addBackupCommands(admin: AdminCommand): void {
  admin
    .command('backup')
    .summary('copies the database and the keys to a new folder')
    .description(
      'copies the database and the keys of this machine to a new folder. The service may keep running. The copy contains the keys: keep it as secret as the data folder',
    )
    .argument('<folder>', 'a new folder for the backup')
    .action(async (folder: string, _: object, command: AdminCommand) => {
      const dataDir = prepare(command);
      const copied = await backUp(dataDir, folder);
      if (isRunning(dataDir)) {
        connect(dataDir);
        await recordRun('backup');
      }
      await command.print(copied);
    });

  admin
    .command('restore')
    .summary('copies a backup to an empty data folder')
    .description(
      'copies a backup to the data folder, which must contain no data. Start the service afterwards',
    )
    .argument('<folder>', 'the backup')
    .action((folder: string, _: object, command: AdminCommand) =>
      command.print(restore(folder, prepare(command))),
    );
}

/** Returns the data folder. Files written from now on are readable by their owner only. */
function prepare(command: AdminCommand): string {
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
