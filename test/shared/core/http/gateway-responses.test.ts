import { gatewayResponses } from '../../../../infra/gateway-responses.ts';

test('a 429 response has Retry-After, readable by scripts', () => {
  const tooMany = gatewayResponses.filter(({ status }) => status === 429);
  expect(tooMany.map(({ type }) => type)).toEqual(['THROTTLED', 'QUOTA_EXCEEDED']);
  for (const { headers } of tooMany) {
    expect(headers['Retry-After']).toMatch(/^'[1-9]\d*'$/);
    expect(headers['Access-Control-Expose-Headers']).toMatch(/\bRetry-After\b/);
  }
});

test('scripts can read the ids by which AWS and we find a request', () => {
  for (const { headers } of gatewayResponses) {
    const exposed = headers['Access-Control-Expose-Headers']?.replaceAll("'", '').split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['x-amzn-RequestId', 'x-amz-apigw-id']));
  }
});
