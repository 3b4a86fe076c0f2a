import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { mockClient } from 'aws-sdk-client-mock';
import { connect, settingsOf } from '../../../infra/aws/connect.ts';
import { dataSettingsIn } from '../../../infra/settings.ts';

const cloudFormation = mockClient(CloudFormationClient);

function stack(StackName: string, outputs: Record<string, string>) {
  const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => {
    return { OutputKey, OutputValue };
  });
  const Stacks = [{ StackName, CreationTime: undefined, StackStatus: undefined, Outputs }];
  cloudFormation.on(DescribeStacksCommand, { StackName }).resolves({ Stacks });
}

beforeEach(() => {
  cloudFormation.reset();
  stack('reviews-data', {
    TableName: 'reviews-data-Table1',
    SigningKeysArn: 'arn:signing',
    SessionKeysArn: 'arn:session',
    WebhookKeysArn: 'arn:webhook',
  });
  stack('reviews', {
    AuthUrl: 'https://reviews.example.org/ws',
  });
});

test('commands use the deployed stack, whatever was set for a local one', async () => {
  process.env.SIGNING_KEYS = 'local';
  process.env.WEBHOOK_KEYS = 'local';
  await connect('reviews');
  expect(process.env).toMatchObject({
    TABLE_NAME: 'reviews-data-Table1',
    SIGNING_KEYS_ARN: 'arn:signing',
    SESSION_KEYS_ARN: 'arn:session',
    WEBHOOK_KEYS_ARN: 'arn:webhook',
    AUTH_URL: 'https://reviews.example.org/ws',
  });
  expect(process.env).not.toHaveProperty('SIGNING_KEYS');
  expect(process.env).not.toHaveProperty('WEBHOOK_KEYS');
  expect(process.env).not.toHaveProperty('AWS_ENDPOINT_URL_DYNAMODB');
});

test('refuses a stack that is not ours', async () => {
  stack('reviews', {});
  await expect(connect('reviews')).rejects.toThrow('the stack reviews has no output AuthUrl');
});

test('gives the settings of the service, and works with no others', async () => {
  const settings = { ...dataSettingsIn(process.env), OWN_TYPES: 'film:Film' };
  const Settings = JSON.stringify(settings);
  stack('reviews', { AuthUrl: 'https://reviews.example.org/ws', Settings });
  expect(await settingsOf('reviews')).toEqual(settings);
  await expect(connect('reviews')).rejects.toThrow('another OWN_TYPES');
  stack('reviews', { AuthUrl: 'https://reviews.example.org/ws' });
  expect(await settingsOf('reviews')).toBeUndefined();
});

test('refuses data of a newer format', async () => {
  stack('reviews-data', {
    TableName: 'reviews-data-Table1',
    SigningKeysArn: 'arn:signing',
    SessionKeysArn: 'arn:session',
    WebhookKeysArn: 'arn:webhook',
    DataFormat: '99',
  });
  await expect(connect('reviews')).rejects.toThrow('has format 99');
});
