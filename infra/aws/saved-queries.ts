import { CfnQueryDefinition, type LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

/** A query of Logs Insights. A value that is not set prints as `-` in the access log. */
interface Query {
  commands: readonly string[];
  /** Unless it is on the access log alone. */
  isOnAllLogs?: true;
}

/** The queries that alarms.md names, by their names. */
const queries: Readonly<Record<string, Query>> = {
  'Slowest by route': {
    commands: [
      'filter milliseconds != "-"',
      'stats count(*) as requests, pct(milliseconds, 50) as p50, pct(milliseconds, 99) as p99, max(milliseconds) as slowest by route',
      'sort p99 desc',
    ],
  },
  'Refused by client': {
    commands: [
      'filter status >= 400 and status < 500',
      'stats count(*) as refused by client, route, status, error',
      'sort refused desc',
    ],
  },
  // An id is in a line of the access log and of a function. Several fields may hold it.
  'Request by id': {
    commands: [
      'fields @timestamp, @log, route, status, error, milliseconds, functionRequestId, authorizerRequestId, message.message, message.error.name, message.error.message',
      'filter @message like "ID"',
      'sort @timestamp',
    ],
    isOnAllLogs: true,
  },
  // `not ours` is a made-up token, or one of a lost key, and has no client.
  'Refused tokens': {
    commands: [
      'filter message.message = "Access token refused"',
      'stats count(*) as refused by message.reason, message.client_id',
      'sort refused desc',
    ],
    isOnAllLogs: true,
  },
  // The authorizer refuses a token by an error, which Lambda logs.
  'Errors by name': {
    commands: [
      'filter level = "ERROR" and not (ispresent(message.errorMessage) and message.errorMessage = "Unauthorized")',
      'stats count(*) as errors, max(@timestamp) as last by @log, message.operation, message.message, message.error.name, message.errorType',
      'sort errors desc',
    ],
    isOnAllLogs: true,
  },
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
    for (const [title, { commands, isOnAllLogs }] of Object.entries(queries)) {
      new CfnQueryDefinition(this, title.replaceAll(' ', ''), {
        name: `${name}/${title}`,
        queryString: commands.join('\n| '),
        logGroupNames: isOnAllLogs ? undefined : [accessLog.logGroupName],
      });
    }
  }
}
