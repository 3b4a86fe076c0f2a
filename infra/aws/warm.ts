import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { Duration } from 'aws-cdk-lib/core';
import type { TableFunction } from './table-function.ts';

/**
 * The functions that most people meet: what a site shows, and what applications ask for most. Most
 * small communities would find them cold, because Lambda ends what is idle for 5 to 10 minutes.
 */
export const warmFunctions: readonly string[] = [
  'authorizer',
  'pages-public-asks',
  'pages-public',
  'pages-read',
  'pages-read-asks',
  'pages-write-votes',
  'pages-none-open',
  'list-reviews',
  'get-review',
  'get-entity',
  'list-entities',
  'batch-get-reviews',
  'batch-get-entities',
  'get-user',
  'get-me',
  'put-vote',
  'create-review',
];

/** Calls a function every five minutes, which then does nothing but stay. */
export function keepWarm(target: TableFunction): void {
  new Rule(target, 'Warm', {
    // Less than Lambda keeps an idle environment.
    schedule: Schedule.rate(Duration.minutes(5)),
    targets: [
      new LambdaTarget(target.lambda, {
        // No request of a client has such a field.
        event: RuleTargetInput.fromObject({ isWarmUp: true }),
        // The next call repeats it.
        retryAttempts: 0,
        maxEventAge: Duration.minutes(1),
      }),
    ],
  });
}
