import { createServer, type IncomingMessage } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { serve } from '../listen.ts';

/** The id of the event source mapping of update-aggregates. */
const uuid = '14e0db71-5d35-4eb5-b481-8945cf9d10c2';

/** The parts of AWS that the admin tool uses with `--stack reviews`, at one address. */
export interface FakeAws {
  /** Variables for the admin tool. */
  environment: Record<string, string>;
  mapping: { state: 'Enabled' | 'Disabled' };
  /** Number of transactions that the tool has written. */
  transactions: number;
  /** The table of the stack. */
  tableName: string;
}

/**
 * Serves CloudFormation with the outputs of a stack, Lambda with one event source mapping, and
 * DynamoDB by the database of this test file. The mapping takes a moment to change, as on AWS.
 */
export async function fakeAws(): Promise<FakeAws> {
  const database = `${process.env.AWS_ENDPOINT_URL_DYNAMODB}`;
  const mapping: FakeAws['mapping'] & { next?: 'Enabled' | 'Disabled' } = { state: 'Enabled' };
  const aws: FakeAws = { environment: {}, mapping, transactions: 0, tableName: '' };

  async function answer(request: IncomingMessage): Promise<{ status: number; body: string }> {
    const target = `${request.headers['x-amz-target']}`;
    if (target.startsWith('DynamoDB_')) {
      if (target.endsWith('TransactWriteItems')) aws.transactions++;
      const { host: _, connection: __, ...headers } = request.headers;
      const response = await fetch(database, {
        method: 'POST',
        headers: headers as Record<string, string>,
        body: await text(request),
      });
      return { status: response.status, body: await response.text() };
    }
    if (request.url?.startsWith('/2015-03-31/event-source-mappings/')) {
      if (!request.url.includes(uuid)) return { status: 404, body: '{}' };
      if (request.method === 'PUT') {
        const { Enabled } = (await json(request)) as { Enabled: boolean };
        mapping.next = Enabled ? 'Enabled' : 'Disabled';
        const State = Enabled ? 'Enabling' : 'Disabling';
        return { status: 202, body: JSON.stringify({ UUID: uuid, State }) };
      }
      mapping.state = mapping.next ?? mapping.state;
      return { status: 200, body: JSON.stringify({ UUID: uuid, State: mapping.state }) };
    }
    const name = new URLSearchParams(await text(request)).get('StackName');
    return { status: 200, body: stackXml(`${name}`, aws.tableName) };
  }

  const url = await serve(
    createServer(async (request, response) => {
      const { status, body } = await answer(request);
      response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' });
      response.end(body);
    }),
  );
  aws.environment = {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  };
  return aws;
}

function stackXml(name: string, tableName: string) {
  const outputs = {
    TableName: tableName,
    SigningKeysArn: 'arn:signing',
    SessionKeysArn: 'arn:session',
    WebhookKeysArn: 'arn:webhook',
    AuthUrl: 'https://reviews.example.org/ws',
    AggregatesMapping: uuid,
  };
  const members = Object.entries(outputs).map(
    ([key, value]) =>
      `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member><StackName>${name}</StackName><CreationTime>2026-01-01T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
}
