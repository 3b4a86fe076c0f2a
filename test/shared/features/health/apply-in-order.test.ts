import type { DynamoDBRecord } from 'aws-lambda';
import { serviceUnavailable } from '../../../../shared/base/errors.ts';
import { applyInOrder } from '../../../../shared/features/health/apply-in-order.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { countMetrics } from '../../../helpers/console.ts';

const minute = 60_000;
let now = Date.parse('2026-11-20T12:00:00Z');
let batches = 0;
let applied: string[];
const errors = jest.fn();

beforeEach(() => {
  applied = [];
  errors.mockReset();
  jest.spyOn(console, 'error').mockImplementation(errors);
});

/** Records of new items, whose ids no other batch has. */
function batchOf(...sortKeys: string[]): DynamoDBRecord[] {
  batches++;
  return sortKeys.map((sk, i) => ({
    eventID: `${batches}-${i}`,
    eventName: 'INSERT',
    dynamodb: { SequenceNumber: `${i}`, Keys: { pk: { S: `REVIEW#${i}` }, sk: { S: sk } } },
  }));
}

/** Delivers a batch as Lambda does, which begins with the record that failed, for some minutes. */
async function deliver(
  records: DynamoDBRecord[],
  { minutes, fault }: { minutes: number; fault: (record: DynamoDBRecord) => Error | undefined },
) {
  let left = records;
  for (let i = 0; i <= minutes && left.length > 0; i++) {
    now += minute;
    stopClock(now);
    const apply = async (record: DynamoDBRecord) => {
      const error = fault(record);
      if (error) throw error;
      applied.push(`${record.eventID}`);
    };
    const { batchItemFailures } = await applyInOrder(left, apply, 'A record failed');
    const failed = batchItemFailures[0]?.itemIdentifier;
    left =
      failed === undefined
        ? []
        : left.slice(left.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === failed));
  }
  return left.map(({ eventID }) => eventID);
}

const aside = () =>
  errors.mock.calls
    .map(([line]) => line as { message: string })
    .filter(({ message }) => /aside/.test(message));

const isFirst = ({ eventID }: DynamoDBRecord) => /-0$/.test(`${eventID}`);

describe('a record that always fails', () => {
  const fault = (record: DynamoDBRecord) => (isFirst(record) ? new Error('odd') : undefined);

  test('holds up the others for ten minutes, and is then put aside', async () => {
    const records = batchOf('REVIEW', 'REVIEW', 'USER');
    expect(await deliver(records, { minutes: 9, fault })).toHaveLength(3);
    expect(applied).toEqual([]);
    expect(aside()).toEqual([]);
    expect(await deliver(records, { minutes: 1, fault })).toEqual([]);
    expect(new Set(applied)).toEqual(new Set(records.slice(1).map(({ eventID }) => eventID)));
    expect(aside()).toEqual([
      {
        message: 'A record was put aside',
        eventID: records[0]?.eventID,
        eventName: 'INSERT',
        pk: 'REVIEW#0',
        sk: 'REVIEW',
      },
    ]);
  });

  test('is counted, so that a ticket rings', async () => {
    const counted = countMetrics();
    await deliver(batchOf('REVIEW', 'REVIEW'), { minutes: 12, fault });
    expect(counted.filter((name) => name === 'RecordsAside')).toHaveLength(1);
  });

  test('is not put aside before ten attempts, however slow they are', async () => {
    const records = batchOf('REVIEW', 'REVIEW');
    for (let i = 0; i < 9; i++) {
      now += 30 * minute;
      expect(await deliver(records, { minutes: 0, fault })).toHaveLength(2);
    }
    expect(await deliver(records, { minutes: 0, fault })).toEqual([]);
  });

  test('does not hide another one behind it, of which each has its ten minutes', async () => {
    const records = batchOf('REVIEW', 'REVIEW', 'REVIEW');
    const both = ({ eventID }: DynamoDBRecord) =>
      /-[01]$/.test(`${eventID}`) ? new Error('odd') : undefined;
    expect(await deliver(records, { minutes: 24, fault: both })).toEqual([]);
    expect(aside()).toHaveLength(2);
  });
});

describe('nothing is put aside', () => {
  test.each([
    ['while every record fails, as in an outage', ['REVIEW', 'USER'], () => new Error('down')],
    [
      'while heartbeats alone succeed',
      ['REVIEW', 'DONE#heartbeat'],
      (record: DynamoDBRecord) => (isFirst(record) ? new Error('odd') : undefined),
    ],
    [
      'while totals are rebuilt',
      ['REVIEW', 'USER'],
      (record: DynamoDBRecord) =>
        isFirst(record) ? serviceUnavailable('The totals are being rebuilt') : undefined,
    ],
  ])('%s', async (_, sortKeys, fault) => {
    const records = batchOf(...sortKeys);
    expect(await deliver(records, { minutes: 300, fault })).toHaveLength(2);
    expect(aside()).toEqual([]);
  });
});
