import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { constants, deflate, gzip } from 'node:zlib';

const codings = { gzip: promisify(gzip), deflate: promisify(deflate) };
type Coding = keyof typeof codings;

/** An answer as it goes out. */
export interface Reply {
  statusCode: number;
  headers: Record<string, unknown>;
  body: Buffer;
}

/** In bytes: API Gateway's `minimumCompressionSize`, as the deployment sets it. */
const smallestBody = 1024;
/** A list of 50 takes 0.4 ms instead of 1.3, and a fifth more bytes, which cost nothing on this machine. */
const level = constants.Z_BEST_SPEED;

/**
 * The answer as API Gateway sends it to a client that names a coding which API Gateway knows. Neither `*` nor silence names one. As
 * there, the ETag stays what it was.
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
