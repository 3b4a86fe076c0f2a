import type { DynamoDBClientResolvedConfig } from '@aws-sdk/client-dynamodb';
import aws4 from 'aws4';

/** A request as the SDK has it signed. */
export interface SignableRequest {
  headers: Record<string, string>;
  body?: unknown;
}

/**
 * Signs requests to DynamoDB (AWS Signature Version 4), which are all `POST /`. The SDK's own signer is made anew for each of them, and takes
 * a third of the CPU of a small read; aws4 takes a fifth of that. A test holds one against the other.
 */
export function signerFor(config: Pick<DynamoDBClientResolvedConfig, 'credentials' | 'region'>) {
  return {
    async sign<T extends SignableRequest>(
      request: T,
      { signingDate = new Date() } = {},
    ): Promise<T> {
      const time = new Date(signingDate).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
      const signable = {
        service: 'dynamodb',
        region: await config.region(),
        method: 'POST',
        path: '/',
        headers: { ...request.headers, 'x-amz-date': time },
        body: request.body as string,
      };
      const credentials = await config.credentials();
      // To see that a key of bytes is no KeyObject, Node.js 24 throws two errors and catches them. Where they were takes a third of this.
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = 0;
      try {
        return Object.assign(request, { headers: aws4.sign(signable, credentials).headers });
      } finally {
        Error.stackTraceLimit = stackTraceLimit;
      }
    },
  };
}
