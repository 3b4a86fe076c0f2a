import { CommanderError, Option, type OutputConfiguration } from 'commander';
import { addApplicationCommands } from './application.ts';
import { addCheckCommand } from './check.ts';
import { AdminCommand, type GlobalOptions } from './command.ts';
import { addEntityCommands } from './entity.ts';
import { addInvitationCommands } from './invitation.ts';
import { addModerationCommands } from './moderation.ts';
import { addTokenCommands } from './token.ts';
import { addTransferCommands } from './transfer.ts';
import { addUpkeepCommands } from './upkeep.ts';
import { addUserCommands } from './user.ts';
import { addWebhookCommands } from './webhook.ts';

/** Runs the operator's tool. Returns the exit status: 0, 1 (failed) or 2 (usage). */
export async function runAdmin(
  args: readonly string[],
  output: OutputConfiguration = {},
): Promise<number> {
  const admin = program(output);
  try {
    await admin.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    admin.configureOutput().writeErr?.(`Error: ${explain(error, admin)}\n`);
    return 1;
  }
}

export function program(output: OutputConfiguration = {}): AdminCommand {
  const admin = new AdminCommand('npm run admin --')
    .description(
      "The operator's tool, for the stack on this machine or a stack on AWS. It prints one JSON document.",
    )
    .option(
      '--data-dir <folder>',
      'the data folder of the stack on this machine (env: DATA_DIR)',
      process.env.DATA_DIR || '.data',
    )
    .addOption(
      new Option(
        '--stack <name>',
        'a stack on AWS instead, such as review-service; uses the region and credentials of the AWS command line',
      ).conflicts('dataDir'),
    )
    .addOption(
      new Option('--only <field>', 'prints one field only, such as id').conflicts('tables'),
    )
    .option('--tables', 'prints tables instead of JSON')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput(output)
    .exitOverride()
    .addHelpText('after', help)
    .hook('preAction', (_, command) => (command as AdminCommand).checkRequired());
  addUserCommands(admin);
  addInvitationCommands(admin);
  addCheckCommand(admin);
  addApplicationCommands(admin);
  addTokenCommands(admin);
  addEntityCommands(admin);
  addModerationCommands(admin);
  addTransferCommands(admin);
  addUpkeepCommands(admin);
  addWebhookCommands(admin);
  return admin;
}

const help = `
Each command has its own --help. The exit status is 0, 1 if the command failed, or 2
if its options are invalid. Type "npm run -s" if a program reads the answer, because
npm otherwise prints lines of its own:

  npm run -s admin -- user list --find ann@ | jq -r '.users[].id'
  npm run -s admin -- --tables app list
  AWS_REGION=us-east-1 npm run -s admin -- --stack review-service report list
`;

function explain(error: unknown, admin: AdminCommand): string {
  if (!(error instanceof Error)) return `${error}`;
  const { stack, dataDir } = admin.opts<GlobalOptions>();
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (stack === undefined && name === 'TimeoutError') {
    return `the database of the stack on the data folder ${dataDir} answers too slowly: repeat the command when the machine is less busy. If that does not help, restart the stack`;
  }
  if (stack === undefined && code === 'ECONNREFUSED') {
    return `the database of the stack on the data folder ${dataDir} does not answer: stop the stack if it still runs, then start it again with npm start`;
  }
  if (name === 'ResourceNotFoundException') {
    return `there is no table ${process.env.TABLE_NAME}: check its name, the region and the account`;
  }
  return message || name;
}
