import dns from 'node:dns/promises';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { version } from '../routes.ts';
import { fixedAddresses, hostOf, isReachable, parseAddress } from './address.ts';

/** In milliseconds, for everything: DNS, connection, TLS, and an answer that arrives slowly. */
const patience = 15_000;

/** In milliseconds, until the next IP address is tried beside the first. */
const patiencePerAddress = 2_000;

/** In bytes. The rest of an answer is not read. */
const longestAnswer = 65_536;

/** In seconds: 8 hours. */
const longestRetryAfter = 28_800;

export interface WebhookRequest {
  /** As stored. It is checked again, because the table may hold anything. */
  address: string;
  /** Headers of the signature. The others are the same for each request. */
  headers: Readonly<Record<string, string>>;
  /** JSON. */
  body: string;
}

export interface Delivery {
  /** `delivered` is any 2xx, `gone` is 410. A redirect has `failed`. */
  outcome: 'delivered' | 'gone' | 'failed';
  /** Unset if there was no complete answer in 15 seconds, or the address was refused. */
  status?: number;
  milliseconds: number;
  /** Seconds that the receiver asks for after a failure, at most 8 hours. */
  retryAfter?: number;
  /** The first 64 KB of the answer. Never show it: it may be a page of an intranet. */
  answer?: string;
}

/**
 * Sends a request to a stranger's server. It reaches only IP addresses that were checked, and
 * follows no redirect. Throws for no answer and no address.
 */
export async function sendRequest({ address, headers, body }: WebhookRequest): Promise<Delivery> {
  const begin = performance.now();
  const signal = AbortSignal.timeout(patience);
  const target = parseAddress(address);
  const addresses = target && (await resolve(hostOf(target.url), signal));
  const isAllowed =
    addresses &&
    addresses.length > 0 &&
    addresses.every((each) => isReachable(each, target.isIntranet));
  const result = isAllowed
    ? await post(target.url, { addresses, headers, body, signal })
    : { outcome: 'failed' as const };
  return { ...result, milliseconds: Math.round(performance.now() - begin) };
}

/**
 * Returns all IP addresses of a host, or none in time. Asks the DNS servers itself (c-ares). The
 * system's resolver would hold a thread for each silent DNS server, and the files of the database
 * share these threads.
 */
async function resolve(host: string, signal: AbortSignal): Promise<string[]> {
  const fixed = fixedAddresses(host);
  if (fixed) return fixed.filter((address) => isReachable(address, true));
  const answers = await Promise.race([
    Promise.allSettled([dns.resolve4(host), dns.resolve6(host)]),
    once(signal, 'abort').then(() => []),
  ]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

interface Checked extends Pick<WebhookRequest, 'headers' | 'body'> {
  addresses: readonly string[];
  signal: AbortSignal;
}

async function post(
  url: URL,
  { addresses, headers, body, signal }: Checked,
): Promise<Omit<Delivery, 'milliseconds'>> {
  const { Agent, request } = url.protocol === 'https:' ? https : http;
  const outgoing = request(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': `review-service${version}`,
      ...headers,
    },
    // Not shared, because the addresses were checked for this request.
    agent: new Agent({
      lookup: lookupIn(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: patiencePerAddress,
    }),
    signal,
  });
  // After the answer has begun, an error of the connection is thrown by its reader as well.
  outgoing.on('error', () => {});
  outgoing.end(body);
  try {
    const [response] = (await once(outgoing, 'response', { signal })) as [IncomingMessage];
    const answer = await read(response);
    return resultOf(response, answer);
  } catch {
    return { outcome: 'failed' };
  } finally {
    outgoing.destroy();
  }
}

/** Gives Node.js the checked addresses, in place of a second resolution. */
function lookupIn(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, _options, callback) => callback(null, entries);
}

async function read(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= longestAnswer) break;
  }
  return `${Buffer.concat(chunks).subarray(0, longestAnswer)}`;
}

function resultOf(
  { statusCode: status = 0, headers }: IncomingMessage,
  answer: string,
): Omit<Delivery, 'milliseconds'> {
  if (status >= 200 && status < 300) return { outcome: 'delivered', status, answer };
  if (status === 410) return { outcome: 'gone', status, answer };
  return { outcome: 'failed', status, answer, retryAfter: secondsIn(headers['retry-after']) };
}

/** Reads Retry-After: seconds or an HTTP date (RFC 9110 section 10.2.3). */
function secondsIn(header = ''): number | undefined {
  const date = /GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  const seconds = /^\d+$/.test(header) ? Number(header) : Math.ceil((date - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), longestRetryAfter);
}
