import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { signerFor } from '../../../shared/table/sign.ts';

const permanent = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPx' };
const temporary = { ...permanent, sessionToken: 'IQoJb3JpZ2luX2VjE//8=' };
const signingDate = new Date('2026-02-03T04:05:06.789Z');

function request(body: string) {
  return {
    method: 'POST',
    protocol: 'https:',
    hostname: 'dynamodb.eu-west-1.amazonaws.com',
    path: '/',
    query: {},
    headers: {
      host: 'dynamodb.eu-west-1.amazonaws.com',
      'content-type': 'application/x-amz-json-1.0',
      'content-length': `${Buffer.byteLength(body)}`,
      'x-amz-target': 'DynamoDB_20120810.GetItem',
    },
    body,
  };
}

describe('a signature', () => {
  test.each([
    ['of a permanent key', permanent, '{"TableName":"reviews"}'],
    ['of temporary credentials, as on Lambda', temporary, '{"TableName":"reviews"}'],
    ['of text beyond ASCII', temporary, '{"TableName":"Größe 🎧"}'],
  ])('%s is that of the SDK', async (_, credentials, body) => {
    const { config } = new DynamoDBClient({ region: 'eu-west-1', credentials });
    const sdk = await config.signer({ name: 'sigv4', signingName: 'dynamodb' } as never);
    const theirs = await sdk.sign(request(body) as never, { signingDate });
    const { authorization, ...headers } = theirs.headers;
    expect(authorization).toMatch(/^AWS4-HMAC-SHA256 .*Signature=[\da-f]{64}$/);

    // What is on its way is signed; what names the program or the trace may change under way.
    const sent = { ...headers, 'user-agent': 'x', 'x-amzn-trace-id': 'Root=1' };
    const signer = signerFor(config);
    for (const attempt of [1, 2]) {
      const ours = await signer.sign({ headers: { ...sent }, body }, { signingDate });
      expect([attempt, ours.headers]).toEqual([attempt, { ...sent, Authorization: authorization }]);
    }
  });

  test('follows the credentials and the day when they change', async () => {
    let credentials = permanent;
    const signer = signerFor({
      credentials: async () => credentials,
      region: async () => 'eu-west-1',
    } as never);
    const sign = async (date: Date) =>
      (await signer.sign(request('{}'), { signingDate: date })).headers as Record<string, string>;
    const first = await sign(signingDate);
    credentials = { ...permanent, secretAccessKey: 'another' };
    const second = await sign(signingDate);
    const third = await sign(new Date('2026-02-04T04:05:06.789Z'));
    expect(new Set([first, second, third].map(({ Authorization }) => Authorization)).size).toBe(3);
    expect(third.Authorization).toContain('/20260204/eu-west-1/dynamodb/aws4_request');
  });
});
