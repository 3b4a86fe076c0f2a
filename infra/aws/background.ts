import { Rule, Schedule as Times } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Arn, Aws, Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { isPrefix, type RecordKind } from '../../shared/base/background/consumer.ts';
import type { Schedule } from '../../shared/base/background/schedule.ts';
import { consumers, schedulesOf } from '../../shared/features/background.ts';
import { acknowledge } from './nag.ts';
import { type FunctionDefaults, TableFunction } from './table-function.ts';

const streaming = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'];

/** The functions that follow the table's stream or the clock, and their dead-letter queue. */
export class Background extends Construct {
  readonly deadLetters: Queue;
  readonly consumers: readonly TableFunction[];
  readonly jobs: readonly TableFunction[];

  constructor(scope: Construct, id: string, defaults: FunctionDefaults) {
    super(scope, id);
    this.deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    acknowledge(this.deadLetters, { SQS3: 'This queue is itself the dead-letter queue' });
    const toDeadLetters = new PolicyStatement({
      actions: ['sqs:SendMessage'],
      resources: [this.deadLetters.queueArn],
    });

    const eventSourceArn = defaults.table.tableStreamArn;
    if (!eventSourceArn) throw new Error('The table has no stream');
    const fromStream = new PolicyStatement({
      actions: streaming.map((action) => `dynamodb:${action}`),
      resources: [eventSourceArn],
    });
    this.consumers = consumers.map(({ operation, table, within, records, batchSize }) => {
      const consumer = new TableFunction(this, operation, {
        defaults,
        description: `Follows the stream: ${[...new Set(records.flatMap(({ sortKeys }) => sortKeys))].join(', ')}`,
        table,
        within,
        rights: [fromStream, toDeadLetters],
        timeout: Duration.minutes(5),
      });
      new EventSourceMapping(consumer, 'Stream', {
        target: consumer.lambda,
        eventSourceArn,
        startingPosition: StartingPosition.TRIM_HORIZON,
        filters: records.map((kind) => FilterCriteria.filter(patternOf(kind))),
        batchSize,
        // A larger batch writes each tree node once. infra/aws/README.md has the savings.
        maxBatchingWindow: Duration.seconds(defaults.options.batchWindow),
        reportBatchItemFailures: true,
        bisectBatchOnError: true,
        // The consumer puts aside a record that alone fails. Where all fail, they must not block
        // later ones until the stream drops them, after a day. Age is the limit, because every
        // attempt fails at once while totals are rebuilt.
        retryAttempts: 10_000,
        maxRecordAge: Duration.hours(6),
        onFailure: new SqsDlq(this.deadLetters),
      });
      return consumer;
    });

    const { notices, mailFrom } = defaults.options;
    this.jobs = schedulesOf({ isMailing: notices }).map(
      ({ operation, runs, timeout, isForMails, ...use }) => {
        const isDaily = runs !== 'every minute';
        const rights = isForMails ? [sending(`${mailFrom}`)] : [];
        const job = new TableFunction(this, operation, {
          defaults,
          ...use,
          description: isDaily ? `Every day at ${timeOf(runs)} UTC` : 'Every minute',
          rights: isDaily ? [toDeadLetters] : rights,
          timeout: isDaily ? Duration.minutes(15) : Duration.seconds(timeout ?? 15),
        });
        if (isForMails) acknowledge(job.role, anyIdentity);
        if (isDaily) this.#runDaily(job, runs);
        else runEveryMinute(job);
        return job;
      },
    );
  }

  /** Repeats a failure twice. Then it waits in the queue. */
  #runDaily(job: TableFunction, { hour, minute }: TimeOfDay): void {
    job.lambda.configureAsyncInvoke({
      retryAttempts: 2,
      onFailure: new SqsDestination(this.deadLetters),
    });
    new Rule(job, 'Daily', {
      schedule: Times.cron({ minute: `${minute}`, hour: `${hour}` }),
      targets: [new LambdaTarget(job.lambda, { deadLetterQueue: this.deadLetters })],
    });
  }
}

type TimeOfDay = Exclude<Schedule['runs'], 'every minute'>;

const timeOf = ({ hour, minute }: TimeOfDay) => `${hour}:${`${minute}`.padStart(2, '0')}`;

/** Runs a job whose failure goes to no queue, because the next minute repeats it. */
function runEveryMinute(job: TableFunction): void {
  // After throttling, runs of earlier minutes would add to that of the next one.
  job.lambda.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
  new Rule(job, 'EveryMinute', {
    schedule: Times.rate(Duration.minutes(1)),
    targets: [new LambdaTarget(job.lambda)],
  });
}

/**
 * Allows to send mails from this address alone. Amazon SES also checks the right for the verified
 * domain above it, for the default configuration set of that identity, and for a recipient that is
 * an identity of the account. So the sender is the limit, and not the resource.
 */
function sending(address: string) {
  return new PolicyStatement({
    actions: ['ses:SendEmail', 'ses:SendRawEmail'],
    resources: ['identity', 'configuration-set'].map((resource) =>
      Arn.format({
        service: 'ses',
        resource,
        resourceName: '*',
        partition: Aws.PARTITION,
        region: Aws.REGION,
        account: Aws.ACCOUNT_ID,
      }),
    ),
    conditions: { StringEquals: { 'ses:FromAddress': address } },
  });
}

const anySender = 'The condition limits the right to one sender';
const anyIdentity = {
  'IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:identity/*]': anySender,
  'IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:configuration-set/*]':
    anySender,
};

/** Returns Lambda's filter pattern for the same records as `isFor` of shared/base/background. */
function patternOf({ sortKeys, only }: RecordKind) {
  const S = sortKeys.map((each) => (isPrefix(each) ? { prefix: each } : each));
  const Keys = { sk: { S } };
  if (only === undefined) return { dynamodb: { Keys } };
  if (typeof only === 'string') return { eventName: [only], dynamodb: { Keys } };
  return { dynamodb: { Keys, NewImage: { [only.has]: { S: [{ exists: true }] } } } };
}
