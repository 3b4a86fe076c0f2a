import { connect, settingsOf } from '../infra/aws/connect.ts';
import { adopt } from '../infra/settings.ts';
import { dataFormat } from '../shared/base/table/format.ts';
import { showProgress } from './progress.ts';

/** In milliseconds, well below the ten seconds after which the lock of a rebuild is renewed. */
const renewAfter = 5_000;

/**
 * Deploys a service, and first writes its rank trees under the keys of this code where older code
 * has others. Lists stay right meanwhile: the consumer of the stream waits, and each code reads its
 * own nodes. Returns the exit status of `deploy`. Throws ApiError 503 if trees must be rebuilt.
 */
export async function overFormerTrees(
  name: string,
  format: number,
  deploy: () => Promise<number>,
): Promise<number> {
  const settings = await settingsOf(name);
  // Before code is loaded that reads the settings.
  if (settings) adopt(settings);
  await connect(name);
  const { hasFormerNodes, rebuildTotals } = await import('../shared/features/audit/public.ts');
  const isFormer = await hasFormerNodes().catch((error: Error) => {
    // Only who brings trees to other keys needs rights on the table.
    if (format === dataFormat && error.name === 'AccessDeniedException') return false;
    throw error;
  });
  if (!isFormer) return deploy();
  console.error(
    'Rank trees get other keys. Counts and far pages lag until the deployment is complete.',
  );
  let status = 0;
  await rebuildTotals(showProgress('Reading'), {
    async deploy(keepLock) {
      let lost: unknown;
      const renewing = setInterval(() => {
        keepLock().catch((error: unknown) => {
          lost ??= error;
        });
      }, renewAfter);
      status = await deploy().finally(() => clearInterval(renewing));
      if (status !== 0) throw new Error(`cdk deploy ended with ${status}`);
      if (lost) throw lost;
    },
  }).catch((error: unknown) => {
    if (status === 0) throw error;
  });
  return status;
}
