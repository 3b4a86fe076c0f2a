import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { constants, deflate, gzip } from 'node:zlib';

const codings = { gzip: promisify(gzip), deflate: promisify(deflate) };
type Coding = keyof typeof codings;

/** A response before it is sent. */
export interface Reply {
  statusCode: number;
  headers: Record<string, unknown>;
  body: Buffer;
}

/** In bytes: `minimumCompressionSize` of API Gateway, as deployed. */
const smallestBody = 1024;
/**
 * Best speed compresses a list of 50 in 0.4 ms instead of 1.3. It is a fifth larger, which does not
 * matter on one machine.
 */
const level = constants.Z_BEST_SPEED;

/**
 * Compresses a response as API Gateway does, if the client names a supported coding. `*` or no
 * header names none. The ETag stays the same, as on API Gateway.
 */
export async function compress({ method, headers }: IncomingMessage, reply: Reply): Promise<Reply> {
  const { statusCode, body } = reply;
  const isBare = method === 'HEAD' || statusCode === 204 || statusCode === 304;
  if (isBare || body.length < smallestBody) return reply;
  const coding = codingFor(headers['accept-encoding'] ?? '');
  const isEncoded = Object.keys(reply.headers).some((name) => /^content-encoding$/i.test(name));
  if (!coding || isEncoded) return reply;
  return {
    statusCode,
    headers: { ...reply.headers, 'Content-Encoding': coding },
    body: await codings[coding](body, { level }),
  };
}

/** Chooses the coding by RFC 9110 section 12.5.3, and gzip if both have the same weight. */
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
