import '../../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, type TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { handler as eraser } from '../../../functions/background/eraser.ts';
import { handler as sendHeartbeat } from '../../../functions/background/send-heartbeat.ts';
import { runAs } from '../../../shared/base/operation.ts';
import { withinBudget } from '../../../shared/base/table/budget.ts';
import { findUser } from '../../../shared/core/user/user-repository.ts';
import { silence } from '../../helpers/console.ts';
import { makeModerator, makeUsers } from '../../helpers/world.ts';

let written: string[];

beforeEach(() => {
  written = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(`${text}`);
    return true;
  });
  process.env.METRICS_NAMESPACE = 'reviews';
});

/** Reads the lines as CloudWatch does (Embedded Metric Format): `namespace name by value: sum`. */
function metrics() {
  const found = new Map<string, number[]>();
  for (const text of written) {
    expect(text).toMatch(/^{.*}\n$/);
    const line = JSON.parse(text);
    expect(Math.abs(line._aws.Timestamp - Date.now())).toBeLessThan(60_000);
    for (const { Namespace, Dimensions, Metrics } of line._aws.CloudWatchMetrics) {
      for (const { Name } of Metrics) {
        const by = Dimensions.map((names: string[]) => names.map((name) => line[name]));
        const key = `${Namespace} ${Name} by ${by}`;
        found.set(key, [...(found.get(key) ?? []), line[Name]]);
      }
    }
  }
  return [...found];
}

const asOperation = <T>(run: () => T) => runAs({ name: 'an-operation', activity: 'vote' }, run);

const beat = () => asOperation(() => sendHeartbeat());

describe('the age of the oldest open moderation case', () => {
  test('is counted while a case is open, in hours', async () => {
    const [ann, ben] = await makeUsers(2);
    const moderator = await makeModerator('Mo');
    await beat();
    expect(metrics()).toEqual([]);

    jest.useFakeTimers({ now: Date.parse('2026-11-20T12:00:00Z'), advanceTimers: true });
    const old = await ann.publishes();
    await ben.reports(old, { reason: 'spam' });
    jest.setSystemTime(Date.parse('2026-11-22T12:00:00Z'));
    const young = await ann.publishes();
    await ben.reports(young, { reason: 'spam' });
    jest.setSystemTime(Date.parse('2026-11-23T18:00:00Z'));
    await beat();
    expect(metrics()).toEqual([
      ['reviews OldestCaseHours by an-operation', [expect.closeTo(78, 1)]],
    ]);

    written = [];
    await moderator.decides(old, 'dismiss');
    await beat();
    expect(metrics()).toEqual([
      ['reviews OldestCaseHours by an-operation', [expect.closeTo(30, 1)]],
    ]);

    written = [];
    await moderator.decides(young, 'dismiss');
    await beat();
    expect(metrics()).toEqual([]);
  });
});

describe('repeated writes', () => {
  /** Has the next transactions cancelled by a conflict. */
  function conflict(times: number) {
    const send = DynamoDBDocumentClient.prototype.send;
    let left = times;
    jest.spyOn(DynamoDBDocumentClient.prototype, 'send').mockImplementation(function (
      this: DynamoDBDocumentClient,
      ...args: unknown[]
    ) {
      const { name } = (args[0] as TransactWriteCommand).constructor;
      if (name !== 'TransactWriteCommand' || left === 0) return send.apply(this, args as never);
      left -= 1;
      return Promise.reject(
        new TransactionCanceledException({
          message: 'conflict',
          $metadata: {},
          CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }],
        }),
      );
    });
  }

  test('are counted by operation, and a write at the first go is not', async () => {
    const [ann, ben] = await makeUsers(2);
    const review = await ann.publishes();
    expect(metrics()).toEqual([]);
    conflict(3);
    await ben.votes(review);
    expect(metrics()).toEqual([['reviews Retries by put-vote', [1, 1, 1]]]);
  });
  test('are not written on a server', async () => {
    const [ann, ben] = await makeUsers(2);
    const review = await ann.publishes();
    delete process.env.METRICS_NAMESPACE;
    conflict(1);
    await ben.votes(review);
    expect(written).toEqual([]);
  });
});

test('functions that serve no route log their cold start, once', async () => {
  const log = silence('info');
  await eraser({ Records: [] });
  expect(log).not.toHaveBeenCalled();
  process.env.AWS_LAMBDA_FUNCTION_NAME = 'reviews-eraser';
  await eraser({ Records: [] });
  await eraser({ Records: [] });
  expect(log.mock.calls).toEqual([
    [
      {
        message: 'Cold start',
        milliseconds: expect.any(Number),
        megabytes: expect.any(Number),
      },
    ],
  ]);
});

test('a request over its budget counts for its operation, and for all together', async () => {
  silence('error');
  const budget = { read: 0, commands: 10, bytes: 10_000, answer: 10_000 };
  const reading = withinBudget({ name: 'an-operation' }, budget, () => findUser(randomUUID()));
  await expect(reading).rejects.toThrow('This takes more than one request may read');
  expect(metrics()).toEqual([['reviews OverBudget by an-operation,', [1]]]);
});
