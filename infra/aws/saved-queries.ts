import { CfnQueryDefinition, type LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

/** Queries of Logs Insights on the access log, by name. A value that is not set prints as `-`. */
const ofAccessLog = {
  'Slowest by route': [
    'filter milliseconds != "-"',
    'stats count(*) as requests, pct(milliseconds, 50) as p50, pct(milliseconds, 99) as p99, max(milliseconds) as slowest by route',
    'sort p99 desc',
  ],
  'Refused by client': [
    'filter status >= 400 and status < 500',
    'stats count(*) as refused by client, route, status, error',
    'sort refused desc',
  ],
  // 412: somebody else changed the review before. 503 without `error`: busy, even after retries.
  Conflicts: [
    'filter status = 412 or (status = 503 and error = "-")',
    'stats count(*) as conflicts by route, status, bin(5m)',
    'sort conflicts desc',
  ],
};

/** Queries on all logs of the service. An id is in a line of the access log and of a function. */
const ofAllLogs = {
  'Request by id': [
    'fields @timestamp, @log, route, status, error, milliseconds, functionRequestId, authorizerRequestId, message.message, message.error.name, message.error.message',
    // Several fields may hold the id.
    'filter @message like "ID"',
    'sort @timestamp',
  ],
  'Cold starts': [
    'filter message.message = "Cold start"',
    'stats count(*) as starts, pct(message.milliseconds, 50) as p50, max(message.milliseconds) as slowest, max(message.megabytes) as megabytes by message.operation',
    'sort starts desc',
  ],
  // `not ours` is a made-up token, or one of a lost key, and has no client.
  'Refused tokens': [
    'filter message.message = "Access token refused"',
    'stats count(*) as refused by message.reason, message.client_id',
    'sort refused desc',
  ],
  // The authorizer refuses a token by an error, which Lambda logs.
  'Errors by name': [
    'filter level = "ERROR" and not (ispresent(message.errorMessage) and message.errorMessage = "Unauthorized")',
    'stats count(*) as errors, max(@timestamp) as last by @log, message.operation, message.message, message.error.name, message.errorType',
    'sort errors desc',
  ],
};

/**
 * Saved queries of Logs Insights. Those on all logs name no log group, because a query takes 50 by
 * name but any number by prefix. The prefix is given with each run, see infra/aws/README.md.
 */
export class SavedQueries extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { name, accessLog }: { name: string; accessLog: LogGroup },
  ) {
    super(scope, id);
    for (const [title, commands] of Object.entries(ofAccessLog)) {
      this.#save(name, title, commands, [accessLog.logGroupName]);
    }
    for (const [title, commands] of Object.entries(ofAllLogs)) this.#save(name, title, commands);
  }

  #save(name: string, title: string, commands: readonly string[], logGroupNames?: string[]) {
    new CfnQueryDefinition(this, title.replaceAll(' ', ''), {
      name: `${name}/${title}`,
      queryString: commands.join('\n| '),
      logGroupNames,
    });
  }
}
