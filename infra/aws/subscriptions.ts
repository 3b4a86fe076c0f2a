import { paginateListSubscriptions, SNSClient } from '@aws-sdk/client-sns';

// The addresses that alarms mail, which AWS asks first.

/** The plan of a deployment whose alarms mail somebody. */
interface Mailed {
  region: string;
  /** Name of the service stack, with which the names of its topics begin. */
  name: string;
  /** True if there is a stack with alarms in us-east-1 too: health-stack.ts. */
  hasHealth: boolean;
}

/**
 * Returns sentences about addresses that have not confirmed the mails of AWS, so no alarm reaches
 * them. Without the right to list subscriptions, one sentence says so.
 */
export async function findUnconfirmed({ region, name, hasHealth }: Mailed): Promise<string[]> {
  const waiting = new Map<string, number>();
  const ours = new RegExp(`:${name}-(Monitoring|health-)(Page|Ticket)`);
  try {
    for (const each of new Set([region, ...(hasHealth ? ['us-east-1'] : [])])) {
      const client = new SNSClient({ region: each, maxAttempts: 2 });
      for await (const { Subscriptions = [] } of paginateListSubscriptions({ client }, {})) {
        for (const { SubscriptionArn, TopicArn = '', Endpoint = '' } of Subscriptions) {
          if (!ours.test(TopicArn) || SubscriptionArn !== 'PendingConfirmation') continue;
          waiting.set(Endpoint, (waiting.get(Endpoint) ?? 0) + 1);
        }
      }
    }
  } catch (error) {
    return [
      `The subscriptions of alarms could not be listed (${(error as Error).name}), so confirm the mails of AWS.`,
    ];
  }
  return [...waiting].map(
    ([address, topics]) =>
      `${address} has not confirmed ${topics === 1 ? 'a mail' : `${topics} mails`} of AWS, so alarms do not reach it. Look for “AWS Notification - Subscription Confirmation”.`,
  );
}
