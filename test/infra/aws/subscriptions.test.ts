import { ListSubscriptionsCommand, SNSClient } from '@aws-sdk/client-sns';
import { mockClient } from 'aws-sdk-client-mock';
import { findUnconfirmed } from '../../../infra/aws/subscriptions.ts';

const sns = mockClient(SNSClient);
const plan = { region: 'eu-north-1', name: 'reviews', hasHealth: false };
const topic = (name: string) => `arn:aws:sns:eu-north-1:123456789012:${name}`;
const pending = (Endpoint: string, name: string) => {
  return { SubscriptionArn: 'PendingConfirmation', TopicArn: topic(name), Endpoint };
};

beforeEach(() => {
  sns.reset();
});

test('addresses that have not confirmed are named once, from all pages of the list', async () => {
  const confirmed = { ...pending('eve@example.org', 'reviews-MonitoringPage1-X') };
  confirmed.SubscriptionArn = `${confirmed.TopicArn}:1`;
  sns.on(ListSubscriptionsCommand, {}).resolves({
    NextToken: 'more',
    Subscriptions: [
      confirmed,
      pending('ops@example.org', 'reviews-MonitoringPage1-X'),
      pending('bob@example.org', 'reviews-MonitoringPage1-X'),
      pending('other@example.org', 'reviews-trial-MonitoringPage1-X'),
      pending('another@example.org', 'billing'),
    ],
  });
  sns.on(ListSubscriptionsCommand, { NextToken: 'more' }).resolves({
    Subscriptions: [pending('ops@example.org', 'reviews-MonitoringTicket2-Y')],
  });
  expect(await findUnconfirmed(plan)).toEqual([
    expect.stringMatching(/^ops@example.org has not confirmed 2 mails of AWS/),
    expect.stringMatching(/^bob@example.org has not confirmed a mail of AWS/),
  ]);
});

test('the stack in us-east-1 has topics of its own', async () => {
  const asked: string[] = [];
  sns.on(ListSubscriptionsCommand).callsFake(async (_, client) => {
    const region = await client().config.region();
    asked.push(region);
    if (region !== 'us-east-1') return {};
    return {
      Subscriptions: [
        pending('ops@example.org', 'reviews-health-Ticket1-X'),
        pending('other@example.org', 'reviews-health-MonitoringPage1-X'),
      ],
    };
  });
  expect(await findUnconfirmed({ ...plan, hasHealth: true })).toEqual([
    expect.stringMatching(/^ops@example.org has not confirmed a mail/),
  ]);
  expect(asked).toEqual(['eu-north-1', 'us-east-1']);
  expect(await findUnconfirmed(plan)).toEqual([]);
  expect(await findUnconfirmed({ ...plan, region: 'us-east-1', hasHealth: true })).toHaveLength(1);
  expect(asked).toEqual(['eu-north-1', 'us-east-1', 'eu-north-1', 'us-east-1']);
});

test('nothing is said once all have confirmed', async () => {
  sns.on(ListSubscriptionsCommand).resolves({ Subscriptions: [] });
  expect(await findUnconfirmed(plan)).toEqual([]);
});

test('without the right to list them, one sentence says so', async () => {
  const denied = Object.assign(new Error('no'), { name: 'AuthorizationErrorException' });
  sns.on(ListSubscriptionsCommand).rejects(denied);
  expect(await findUnconfirmed(plan)).toEqual([
    expect.stringContaining('could not be listed (AuthorizationErrorException)'),
  ]);
});
