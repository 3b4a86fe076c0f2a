import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { DynamoDBClientResolvedConfig } from '@aws-sdk/client-dynamodb';

/** A request as the SDK has it signed. */
export interface SignableRequest {
  headers: Record<string, string>;
  body?: unknown;
}

/**
 * Signs requests to DynamoDB (AWS Signature Version 4), which are all `POST /` without a query. The SDK's own signer knows every service and
 * is made anew for each request: it takes a third of the CPU of a small read, this one a tenth of that. A test holds one against the other.
 */
export function signerFor(config: Pick<DynamoDBClientResolvedConfig, 'credentials' | 'region'>) {
  let key: { of: string; secret: KeyObject } | undefined;
  return {
    async sign<T extends SignableRequest>(
      request: T,
      { signingDate = new Date() } = {},
    ): Promise<T> {
      const { accessKeyId, secretAccessKey, sessionToken } = await config.credentials();
      const time = new Date(signingDate).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
      const scope = [time.slice(0, 8), await config.region(), 'dynamodb', 'aws4_request'];
      const headers: Record<string, string> = { ...request.headers, 'x-amz-date': time };
      if (sessionToken) headers['x-amz-security-token'] = sessionToken;
      const names = Object.keys(headers)
        .filter((name) => name === 'host' || name === 'content-type' || name.startsWith('x-amz-'))
        .sort();
      const canonicalRequest = [
        'POST',
        '/',
        '',
        ...names.map((name) => `${name}:${headers[name]?.trim()}`),
        '',
        names.join(';'),
        hash('sha256', request.body as string | Buffer),
      ].join('\n');
      const of = [secretAccessKey, ...scope].join();
      // The key is the same all day; as an object, because to make one of bytes takes longer than to sign.
      if (key?.of !== of) {
        const bytes = scope.reduce<Buffer>(hmac, Buffer.from(`AWS4${secretAccessKey}`));
        key = { of, secret: createSecretKey(bytes) };
      }
      const toSign = ['AWS4-HMAC-SHA256', time, scope.join('/'), hash('sha256', canonicalRequest)];
      const signature = hmac(key.secret, toSign.join('\n')).toString('hex');
      headers.authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope.join('/')}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
      return Object.assign(request, { headers });
    },
  };
}

function hmac(key: Buffer | KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
