import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Aws } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { Options } from './options.ts';
import type { Urgency } from './ringing.ts';

/** Actions of an alarm when it rings, and when it ends. */
export type AlarmTopics = Readonly<Record<Urgency, SnsAction>>;

/** Adds a topic for each urgency. Mails their alarms of this account, if there is an address. */
export function addTopics(
  scope: Construct,
  { alarmMail, pageMail = alarmMail }: Pick<Options, 'alarmMail' | 'pageMail'>,
): AlarmTopics {
  return {
    page: new SnsAction(addTopic(scope, 'Page', pageMail)),
    ticket: new SnsAction(addTopic(scope, 'Ticket', alarmMail)),
  };
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
