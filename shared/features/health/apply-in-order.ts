import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { describeError } from '../../base/describe-error.ts';
import { ApiError } from '../../base/errors.ts';
import { countMetric } from '../../base/metric.ts';
import { isHeartbeat } from './heartbeat.ts';

/**
 * Failures of a record, and milliseconds since the first, after which it may be put aside. A later
 * record must succeed meanwhile, so an outage of the table puts nothing aside.
 */
const limits = { failures: 10, milliseconds: 600_000 };

/** Later records that are tried for that. One that is about the same item may fail as well. */
const mostTried = 10;

type Apply = (record: DynamoDBRecord) => Promise<void>;

/** Failures of records in this process, by consumer and record. */
const failing = new Map<string, { since: number; failures: number }>();

/**
 * Applies records of the table's stream up to the first that fails. Lambda retries from there. A
 * record that alone fails for ten minutes is put aside: it is logged and counted, and the others go
 * on. `message` is what the log says of a failure.
 */
export async function applyInOrder(
  records: readonly DynamoDBRecord[],
  apply: Apply,
  message: string,
): Promise<DynamoDBBatchResponse> {
  for (const [i, record] of records.entries()) {
    const { eventID, eventName, dynamodb } = record;
    const name = `${message} ${eventID}`;
    try {
      await apply(record);
      failing.delete(name);
    } catch (error) {
      console.error({ message, eventID, error: describeError(error) });
      if (!isStuck(name, error) || !(await isAnyApplied(records.slice(i + 1), apply))) {
        return { batchItemFailures: [{ itemIdentifier: dynamodb?.SequenceNumber ?? '' }] };
      }
      failing.delete(name);
      const keys = { pk: dynamodb?.Keys?.pk?.S, sk: dynamodb?.Keys?.sk?.S };
      console.error({ message: 'A record was put aside', eventID, eventName, ...keys });
      countMetric('RecordsAside', 1, { isSummed: true });
    }
  }
  return { batchItemFailures: [] };
}

/** Counts a failure. A rebuild that is running, or others at the same items, do not count. */
function isStuck(name: string, error: unknown): boolean {
  if (error instanceof ApiError && (error.status === 503 || error.status === 429)) return false;
  const now = Date.now();
  const { since, failures } = failing.get(name) ?? { since: now, failures: 0 };
  failing.set(name, { since, failures: failures + 1 });
  return failures + 1 >= limits.failures && now - since >= limits.milliseconds;
}

/** Returns true if one of the next records succeeds. They are applied again in their turn. */
async function isAnyApplied(records: readonly DynamoDBRecord[], apply: Apply): Promise<boolean> {
  for (const record of records.filter((each) => !isHeartbeat(each)).slice(0, mostTried)) {
    try {
      await apply(record);
      return true;
    } catch {}
  }
  return false;
}
