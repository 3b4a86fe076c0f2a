import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { contributionOf, typesIn } from '../../shared/aggregates/contribution.ts';
import { growTrees } from '../../shared/aggregates/grow.ts';
import { project } from '../../shared/aggregates/project.ts';
import { copySums } from '../../shared/aggregates/sums.ts';
import { applyInOrder } from '../../shared/background/apply-in-order.ts';
import { logChanges } from '../../shared/changes/log.ts';
import { casesIn, entitiesIn, peopleIn, reviewsIn } from '../../shared/changes/stream.ts';
import { describeError } from '../../shared/describe-error.ts';
import { isHeartbeat, passHeartbeat } from '../../shared/health/heartbeat.ts';
import { notingColdStart } from '../../shared/http/cold-start.ts';
import { publishedIn, queueEntities } from '../../shared/names/queue.ts';
import { keepThings } from '../../shared/things/keep-things.ts';
import { settleRisen } from '../../shared/things/settle-risen.ts';

/**
 * Updates totals, rank trees, entries of things, the queues of names, and the change log. Applies a
 * failed batch again, one by one.
 */
export const handler = notingColdStart(
  async ({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
    try {
      await apply(Records);
      return { batchItemFailures: [] };
    } catch (error) {
      const message = 'A batch failed; retrying its records one by one';
      console.warn({ message, error: describeError(error) });
    }
    return applyInOrder(Records, (record) => apply([record]), 'A record failed');
  },
);

async function apply(records: readonly DynamoDBRecord[]): Promise<void> {
  const owners = await project(records.flatMap((record) => contributionOf(record) ?? []));
  const types = typesIn(records);
  if (types.size > 0) await copySums(types);
  await growTrees(owners);
  const risen = await keepThings(records);
  const settled = records.some(isHeartbeat) ? await settleRisen() : [];
  // The names of things that have risen wait as their entries do.
  const published = publishedIn(records).filter(({ entity_id }) => !risen.has(entity_id));
  await queueEntities([...published, ...settled]);
  // Last, so that a batch retried after an earlier failure is not logged twice.
  await logChanges([
    ...reviewsIn(records),
    ...entitiesIn(records),
    ...casesIn(records),
    ...(await peopleIn(records)),
  ]);
  await passHeartbeat('update-aggregates', records);
}
