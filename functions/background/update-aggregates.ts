import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { describeError } from '../../shared/base/describe-error.ts';
import { contributionOf, typesIn } from '../../shared/core/aggregates/contribution.ts';
import { growTrees } from '../../shared/core/aggregates/grow.ts';
import { project } from '../../shared/core/aggregates/project.ts';
import { copySums } from '../../shared/core/aggregates/sums.ts';
import { notingColdStart } from '../../shared/core/http/cold-start.ts';
import {
  casesIn,
  entitiesIn,
  logChanges,
  peopleIn,
  reviewsIn,
} from '../../shared/features/changes/public.ts';
import { applyInOrder, isHeartbeat, passHeartbeat } from '../../shared/features/health/public.ts';
import { publishedIn, queueEntities } from '../../shared/features/names/public.ts';
import { keepThings, settleRisen } from '../../shared/features/things/public.ts';

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
