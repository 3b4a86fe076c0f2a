import { parseArgs } from 'node:util';
import { readDiscovery } from '../../infra/local/storage/discovery.ts';
import { adopt, type DataSettings } from '../../infra/settings.ts';
import { ownTypesIn } from '../../shared/core/entity/own-types.ts';

/**
 * Sets the environment to the settings of the service that a command line names. They must be in
 * force before the commands are loaded, whose code reads the types of reviews then. A command that
 * needs the service reports that there is none when it connects. Throws a sentence for the operator
 * if the types of the environment are wrong.
 */
export async function adoptSettings(args: readonly string[]): Promise<void> {
  const { stack, 'data-dir': dataDir = process.env.DATA_DIR || '.data' } = parseArgs({
    args: [...args],
    strict: false,
    options: { stack: { type: 'string' }, 'data-dir': { type: 'string' } },
  }).values;
  const settings =
    stack === undefined ? readDiscovery(`${dataDir}`)?.settings : await settingsOnAws(`${stack}`);
  if (settings) adopt(settings);
  ownTypesIn(process.env.OWN_TYPES ?? '');
}

async function settingsOnAws(stack: string): Promise<DataSettings | undefined> {
  const aws = await import('../../infra/aws/connect.ts');
  return aws.settingsOf(stack).catch(() => undefined);
}
