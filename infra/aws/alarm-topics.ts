import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Aws } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { Options } from './options.ts';
import { alarmProps, type Ringing } from './ringing.ts';

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
  for (const ringing of alarms) {
    const alarm = new Alarm(scope, ringing.id, alarmProps(ringing));
    alarm.addAlarmAction(topics[ringing.urgency]);
    alarm.addOkAction(topics[ringing.urgency]);
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
