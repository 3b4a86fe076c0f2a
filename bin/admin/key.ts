import { Option } from 'commander';
import type { KeySecret } from '../../infra/aws/rotate-keys.ts';
import type { AdminCommand } from './command.ts';

export function addKeyCommands(admin: AdminCommand): void {
  const key = admin.command('key').description('the keys of a stack on AWS');
  const secret = new Option('--secret <name>', 'which keys')
    .choices(['SIGNING_KEYS', 'SESSION_KEYS'])
    .default('SIGNING_KEYS');
  for (const [verb, description] of [
    ['rotate', 'creates a new key; takes six minutes, until every function has read it'],
    ['retire', 'deletes the oldest key; everything made with it becomes invalid'],
  ] as const) {
    key
      .command(verb)
      .description(description)
      .addOption(secret)
      .answer(async (options: { secret: KeySecret }) => {
        const { retireKey, rotateKey } = await import('../../infra/aws/rotate-keys.ts');
        return (verb === 'rotate' ? rotateKey : retireKey)(options.secret);
      });
  }
}
