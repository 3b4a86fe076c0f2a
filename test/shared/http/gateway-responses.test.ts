import { expect, test } from '@jest/globals';
import { gatewayResponses } from '../../../shared/http/gateway-responses.ts';

test('who has asked too often is told when to ask again, also in a browser', () => {
  const tooMany = gatewayResponses.filter(({ status }) => status === 429);
  expect(tooMany.map(({ type }) => type)).toEqual(['THROTTLED', 'QUOTA_EXCEEDED']);
  for (const { headers } of tooMany) {
    expect(headers['Retry-After']).toMatch(/^'[1-9]\d*'$/);
    expect(headers['Access-Control-Expose-Headers']).toMatch(/\bRetry-After\b/);
  }
});
