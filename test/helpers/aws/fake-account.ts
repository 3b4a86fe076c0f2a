/** An account of AWS for the operator's tool, with a stack whose table lies on this machine. */
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { serve } from '../listen.ts';

interface FakeStack {
  /** Of the DynamoDB that has the table. */
  endpoint: string;
  /** Outputs of both stacks by name. */
  outputs: Record<string, string>;
  /** Values of secrets by ARN. */
  secrets: Record<string, string>;
}

/**
 * Starts endpoints of CloudFormation, Secrets Manager and DynamoDB. Every stack name answers with
 * the same outputs. A table named `restored` is the table of the stack. Returns the environment of
 * somebody who is signed in to the account.
 */
export async function startAccount({ endpoint, outputs, secrets }: FakeStack) {
  const url = await serve(
    createServer(async (request, response) => {
      const body = await buffer(request);
      const [service, operation] = targetOf(request, body);
      if (service === 'DynamoDB_20120810') {
        const { status, text } = await forward(endpoint, request, body);
        response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(text);
      } else if (service === 'secretsmanager' && operation === 'GetSecretValue') {
        const SecretString = secrets[JSON.parse(`${body}`).SecretId];
        response.writeHead(200).end(JSON.stringify({ SecretString }));
      } else if (operation === 'DescribeStacks') {
        const { StackName = '' } = Object.fromEntries(new URLSearchParams(`${body}`));
        response.writeHead(200, { 'Content-Type': 'text/xml' }).end(stackXml(StackName, outputs));
      } else {
        response.writeHead(400).end(`<Error><Code>Unknown ${service} ${operation}</Code></Error>`);
      }
    }),
  );
  return {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'operator',
    AWS_SECRET_ACCESS_KEY: 'operator',
  };
}

function targetOf({ headers }: IncomingMessage, body: Buffer): string[] {
  const target = headers['x-amz-target'];
  if (target !== undefined) return `${target}`.split('.');
  return ['cloudformation', new URLSearchParams(`${body}`).get('Action') ?? ''];
}

async function forward(endpoint: string, { headers }: IncomingMessage, body: Buffer) {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.0',
      // The emulator asks for a signature, and does not check it.
      Authorization: `${headers.authorization}`,
      'X-Amz-Date': `${headers['x-amz-date']}`,
      'X-Amz-Target': `${headers['x-amz-target']}`,
    },
    body: `${body}`.replaceAll('"restored"', '"reviews"'),
  });
  return { status: answer.status, text: await answer.text() };
}

function stackXml(name: string, outputs: Record<string, string>): string {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const members = Object.entries(outputs).map(
    ([key, value]) =>
      `<member><OutputKey>${key}</OutputKey><OutputValue>${escaped(value)}</OutputValue></member>`,
  );
  return `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
    <DescribeStacksResult><Stacks><member>
      <StackName>${name}</StackName><StackStatus>CREATE_COMPLETE</StackStatus>
      <CreationTime>2026-01-01T00:00:00Z</CreationTime>
      <Outputs>${members.join('')}</Outputs>
    </member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
}
