import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Aws } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Route } from '../../shared/base/routes.ts';
import { alarmsOf, type Ringing } from './alarms.ts';
import type { Api } from './api.ts';
import type { Background } from './background.ts';
import { addDashboard } from './dashboard.ts';
import { metricsOf } from './metrics.ts';
import type { Options } from './options.ts';

/** A dashboard, alarms, and two topics that tell of them. */
export class Monitoring extends Construct {
  constructor(
    scope: Construct,
    id: string,
    props: {
      api: Api;
      background: Background;
      table: ITable;
      options: Options;
      routes: readonly Route[];
      mailed: cloudwatch.IMetric | undefined;
    },
  ) {
    super(scope, id);
    const metrics = metricsOf(this, props, props.options.name);
    addAlarms(this, props.options, alarmsOf(metrics, props));
    addDashboard(this, metrics, props);
  }
}

/**
 * Adds alarms, and a topic for each urgency, which is told when an alarm rings and when it ends.
 * Mails the alarms of this account, if there is an address.
 */
export function addAlarms(
  scope: Construct,
  { alarmMail, pageMail = alarmMail }: Pick<Options, 'alarmMail' | 'pageMail'>,
  alarms: readonly Ringing[],
): void {
  const topics = {
    page: new SnsAction(addTopic(scope, 'Page', pageMail)),
    ticket: new SnsAction(addTopic(scope, 'Ticket', alarmMail)),
  };
  const { GREATER_THAN_THRESHOLD, LESS_THAN_THRESHOLD } = cloudwatch.ComparisonOperator;
  const { BREACHING, NOT_BREACHING } = cloudwatch.TreatMissingData;
  for (const { id, urgency, metric, description, above, below, ...ringing } of alarms) {
    const { periods = 1, of = periods } = ringing;
    const alarm = new cloudwatch.Alarm(scope, id, {
      metric,
      alarmDescription: description,
      threshold: below ?? above ?? 0,
      comparisonOperator: below === undefined ? GREATER_THAN_THRESHOLD : LESS_THAN_THRESHOLD,
      evaluationPeriods: of,
      datapointsToAlarm: of === periods ? undefined : periods,
      treatMissingData: ringing.isMissingBad ? BREACHING : NOT_BREACHING,
    });
    alarm.addAlarmAction(topics[urgency]);
    alarm.addOkAction(topics[urgency]);
  }
}

function addTopic(scope: Construct, id: string, mail: string | undefined): Topic {
  const topic = new Topic(scope, id, { enforceSSL: true });
  if (mail) topic.addSubscription(new EmailSubscription(mail));
  // The policy that requires TLS replaces SNS's own, which lets alarms of the account publish.
  topic.grantPublish(
    new ServicePrincipal('cloudwatch.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  );
  return topic;
}
