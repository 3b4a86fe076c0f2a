import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { deflate, gzip } from 'node:zlib';
import type { APIGatewayProxyResult } from 'aws-lambda';

const codings = { gzip: promisify(gzip), deflate: promisify(deflate) };
type Coding = keyof typeof codings;

/** In bytes: API Gateway's `minimumCompressionSize`, as the deployment sets it. */
const smallestBody = 1024;

/**
 * The answer as API Gateway sends it to a client that names a coding which API Gateway knows. Neither `*` nor silence names one. As
 * there, the ETag stays what it was.
 */
export async function compress(
  { method, headers }: IncomingMessage,
  result: APIGatewayProxyResult,
): Promise<APIGatewayProxyResult> {
  const coding = codingFor(headers['accept-encoding'] ?? '');
  const body = Buffer.from(result.body ?? '', result.isBase64Encoded ? 'base64' : 'utf8');
  const isEncoded = Object.keys(result.headers ?? {}).some((name) =>
    /^content-encoding$/i.test(name),
  );
  const isBare = method === 'HEAD' || result.statusCode === 204 || result.statusCode === 304;
  if (!coding || isEncoded || isBare || body.length < smallestBody) return result;
  return {
    ...result,
    headers: { ...result.headers, 'Content-Encoding': coding },
    body: (await codings[coding](body)).toString('base64'),
    isBase64Encoded: true,
  };
}

/** RFC 9110 section 12.5.3; gzip where the client does not care. */
function codingFor(acceptEncoding: string): Coding | undefined {
  const asked = acceptEncoding.split(',').map((item) => {
    const [name = '', weight = '1'] = item
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q\s*=\s*/);
    return { name, weight: Number(weight) };
  });
  const weightOf = (coding: Coding) => asked.find(({ name }) => name === coding)?.weight ?? 0;
  const coding = weightOf('deflate') > weightOf('gzip') ? 'deflate' : 'gzip';
  return weightOf(coding) > 0 ? coding : undefined;
}
