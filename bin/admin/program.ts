import { Command, CommanderError, Option, type OutputConfiguration } from 'commander';
import { addApplicationCommands } from './application.ts';
import { addBackupCommands } from './backup.ts';
import { explain, Required } from './command.ts';
import { addKeyCommands } from './key.ts';
import { addLoginCommand } from './login.ts';
import { addModerationCommands } from './moderation.ts';
import { addTokenCommands } from './token.ts';
import { addTransferCommands } from './transfer.ts';
import { addUpkeepCommands } from './upkeep.ts';
import { addUserCommands } from './user.ts';

/**
 * Runs the operator's tool. Its result goes to stdout, everything else to stderr. Returns the exit
 * status: 0, 1 (failed) or 2 (usage).
 */
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

export function program(output: OutputConfiguration = {}): Command {
  const admin = new Command('npm run admin --')
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
    .hook('preAction', (_, command) => requireOptions(command));
  addUserCommands(admin);
  addApplicationCommands(admin);
  addTokenCommands(admin);
  addLoginCommand(admin);
  addModerationCommands(admin);
  addTransferCommands(admin);
  addBackupCommands(admin);
  addUpkeepCommands(admin);
  addKeyCommands(admin);
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

/**
 * Reports missing options. Commander's own check runs before the check for unknown options, and
 * would ask for an option that is only misspelt.
 */
function requireOptions(command: Command): void {
  const missing = command.options.filter(
    (option) =>
      option instanceof Required && command.getOptionValue(option.attributeName()) === undefined,
  );
  if (missing.length === 0) return;
  const flags = missing.map((option) => `'${option.flags}'`).join(', ');
  command.error(`error: required option${missing.length > 1 ? 's' : ''} ${flags} not specified`);
}
