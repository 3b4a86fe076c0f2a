import { CfnQueryDefinition, type LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

/**
 * Queries of Logs Insights on the access log, by the names that alarms.md has, as their commands. A
 * value that is not set prints as `-` there.
 */
const onAccessLog = {
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
};

/** Queries on all logs. */
const onAllLogs = {
  // An id is in a line of the access log and of a function. Several fields may hold it.
  'Request by id': [
    'fields @timestamp, @log, route, status, error, milliseconds, functionRequestId, authorizerRequestId, message.message, message.error.name, message.error.message',
    'filter @message like "ID"',
    'sort @timestamp',
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
    const add = (queries: Record<string, string[]>, logGroupNames?: string[]) => {
      for (const [title, commands] of Object.entries(queries)) {
        new CfnQueryDefinition(this, title.replaceAll(' ', ''), {
          name: `${name}/${title}`,
          queryString: commands.join('\n| '),
          logGroupNames,
        });
      }
    };
    add(onAccessLog, [accessLog.logGroupName]);
    add(onAllLogs);
  }
}
