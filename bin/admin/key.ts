import { type Command, Option } from 'commander';
import type { KeySecret } from '../../infra/aws/rotate-keys.ts';
import { answer } from './command.ts';

/** The keys of a stack on AWS. */
export function addKeyCommands(admin: Command): void {
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
        const { rotateKey } = await import('../../infra/aws/rotate-keys.ts');
        return rotateKey(options.secret);
      }),
    );
  key
    .command('retire')
    .description('drops the oldest key, and with it all that was made with it')
    .addOption(secret)
    .action(
      answer(async (options: { secret: KeySecret }) => {
        const { retireKey } = await import('../../infra/aws/rotate-keys.ts');
        return retireKey(options.secret);
      }),
    );
}
