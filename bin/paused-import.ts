import { readLogEnd } from '../shared/changes/log.ts';
import { beginBulk, bulkBegan, endBulk } from '../shared/transfer/bulk.ts';
import { rebuild } from './bulk.ts';
import { showProgress } from './progress.ts';

// Imports into a stack on AWS without its consumer of totals and the change log.

/** In minutes. A service with a write since then is in use. */
const recent = 10;
/** In hours: the mapping gives up older records of the stream, see infra/aws/background.ts. */
const longestPause = 6;

/**
 * Refuses an import with the consumer off while others write: what they write would be missing from
 * counts, far pages and the change feed until its end. The change log tells: public reviews, their
 * edits and their votes. Drafts, accounts and reports are not in it. A continued import is never
 * refused.
 */
export async function refuseTraffic(): Promise<void> {
  if ((await bulkBegan()) !== undefined) return;
  const latest = Math.max(...(await readLogEnd()).lanes);
  const minutes = Math.floor((Date.now() - latest) / 60_000);
  if (minutes >= recent) return;
  throw new Error(
    `somebody wrote to the service ${minutes} minutes ago: wait until it is quiet, or add --beside-traffic. Lists then lag until the end of the import`,
  );
}

/**
 * Turns the consumer off, does the work, counts everything, and turns the consumer on again. The
 * stream keeps what was written meanwhile, and the consumer then finds it counted already. If the
 * work stops in any way, the consumer stays off and a mark stays in the table: the next import goes
 * on, and `endPause` gives it up.
 */
export async function whilePaused<T extends object>(work: () => Promise<T>) {
  const { mappingId, switchConsumer } = await consumerSwitch();
  mappingId();
  if ((await bulkBegan()) !== undefined) {
    console.error('An earlier import was interrupted: this import goes on');
  }
  const end = await beginBulk();
  try {
    await switchConsumer('Disabled');
    const outcome = await work();
    const totals = await rebuild(showProgress('Counting'));
    await warnOfLongPause();
    await switchConsumer('Enabled');
    await end();
    return { ...outcome, totals };
  } catch (cause) {
    throw new Error(
      `${(cause as Error).message}. The import is not finished, and update-aggregates is off: repeat the import within ${longestPause} hours, or give it up with: aggregates rebuild`,
      { cause },
    );
  }
}

/** Rebuilds the totals of a stack on AWS. Ends an interrupted import, if there is one. */
export async function rebuildStack() {
  const isPaused = (await bulkBegan()) !== undefined;
  const totals = await rebuild(showProgress('Reading'));
  if (isPaused) {
    const { switchConsumer } = await consumerSwitch();
    await warnOfLongPause();
    await switchConsumer('Enabled');
    await endBulk();
  }
  return totals;
}

/** Loaded here, because an installation on a server lacks its package. */
function consumerSwitch() {
  return import('../infra/aws/consumer-switch.ts');
}

async function warnOfLongPause() {
  const hours = (Date.now() - Date.parse((await bulkBegan()) ?? '')) / 3_600_000;
  if (hours < longestPause) return;
  console.error(
    `The consumer was off for over ${longestPause} hours. It gives up older records of the stream, so mirrors must begin with a new dump, and the alarm DeadLetters rings`,
  );
}
