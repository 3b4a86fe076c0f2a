import dns from 'node:dns/promises';
import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { version } from '../../base/routes.ts';
import { fixedAddresses, hostOf, isReachable, parseAddress, type Target } from './address.ts';
import type { Cause } from './webhook.ts';

/** In milliseconds, for everything: DNS, connection, TLS, and an answer that arrives slowly. */
export const longestRequest = 15_000;

/** In milliseconds, until the next IP address is tried beside the first. */
const patiencePerAddress = 2_000;

/** IP addresses of a name that a connection tries. A name may have thousands. */
const mostAddresses = 4;

/** In milliseconds. A connection without a request is then closed, so that few are open. */
const longestIdle = 1_000;

/** In bytes. The rest of an answer is not read. */
const longestAnswer = 65_536;

/** In bytes that arrive for an answer: headers, interim answers and the frames of chunks too. */
const mostReceived = 262_144;

/** In seconds: 8 hours. */
export const longestRetryAfter = 28_800;

interface WebhookRequest {
  /** Headers of the signature. The others are the same for each request. */
  headers: Readonly<Record<string, string>>;
  /** JSON. */
  body: string;
}

export interface Delivery {
  /** `delivered` is any 2xx, `gone` is 410. A redirect has `failed`. */
  outcome: 'delivered' | 'gone' | 'failed';
  /** Unset if there was no complete answer in time, or the address was refused. */
  status?: number;
  /** Unset after a delivery. */
  cause?: Cause;
  milliseconds: number;
  /** Seconds that the receiver asks for after a failure, at most 8 hours. */
  retryAfter?: number;
  /** The first 64 KB of the answer. Never show it: it may be a page of an intranet. */
  answer?: string;
}

/** Progress of a request. It fails at its stage, if it fails. */
interface Progress {
  stage: Cause;
  /** Throws if too many bytes have arrived for the answer. */
  check(): void;
}

/**
 * A connection to a stranger's server, kept between requests. It reaches only IP addresses that
 * were checked, and follows no redirect. Requests are sent one after the other.
 */
export class Connection {
  readonly #target: Target | undefined;
  #agent: http.Agent | undefined;

  /** `address` is as stored. It is checked again, because the table may hold anything. */
  constructor(address: string) {
    this.#target = parseAddress(address);
  }

  /** Sends a request. Throws for no answer and no address: a failure is a result. */
  async send(request: WebhookRequest): Promise<Delivery> {
    const begin = performance.now();
    const signal = AbortSignal.timeout(longestRequest);
    const progress: Progress = { stage: 'address', check() {} };
    let result: Result;
    try {
      result = await this.#post(request, signal, progress);
    } catch {
      this.close();
      result = { outcome: 'failed', cause: signal.aborted ? 'timeout' : progress.stage };
    }
    return { ...result, milliseconds: Math.round(performance.now() - begin) };
  }

  /** Closes the connection. The next request opens another. */
  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  async #post(request: WebhookRequest, signal: AbortSignal, progress: Progress): Promise<Result> {
    if (!this.#target) throw new Error('No webhook may have this address');
    const { url } = this.#target;
    const isKept = this.#agent !== undefined;
    this.#agent ??= await newAgent(this.#target, signal, progress);
    const outgoing = begin(url, this.#agent, request, signal);
    outgoing.once('socket', (socket) => watch(outgoing, socket, progress));
    let response: IncomingMessage;
    try {
      [response] = (await once(outgoing, 'response', { signal })) as [IncomingMessage];
    } catch (error) {
      outgoing.destroy();
      // A receiver may close a kept connection at any time.
      if (!isKept || !outgoing.reusedSocket || signal.aborted) throw error;
      this.close();
      return this.#post(request, signal, progress);
    }
    return resultOf(response, await read(response, progress));
  }
}

/** Returns an agent that connects to the checked addresses of the target, and to no others. */
async function newAgent(target: Target, signal: AbortSignal, progress: Progress) {
  const { Agent } = target.url.protocol === 'https:' ? https : http;
  const host = hostOf(target.url);
  progress.stage = 'dns';
  const addresses = fixedAddresses(host) ?? (await resolve(host, signal));
  if (addresses.length === 0) throw new Error('The name has no address');
  progress.stage = 'address';
  const reachable = addresses.filter((address) => isReachable(address, target.isIntranet));
  // `localhost` is the one name of which some addresses may be out of reach.
  const isAllowed = fixedAddresses(host)
    ? reachable.length > 0
    : reachable.length === addresses.length;
  if (!isAllowed) throw new Error('An address is out of reach');
  return new Agent({
    keepAlive: true,
    timeout: longestIdle,
    maxSockets: 1,
    lookup: lookupIn(firstOf(reachable)),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: patiencePerAddress,
  });
}

/**
 * Returns all IP addresses of a host, or none in time. Asks the DNS servers itself (c-ares). The
 * system's resolver would hold a thread for each silent DNS server, and the files of the database
 * share these threads.
 */
async function resolve(host: string, signal: AbortSignal): Promise<string[]> {
  const answers = await Promise.race([
    Promise.allSettled([dns.resolve4(host), dns.resolve6(host)]),
    once(signal, 'abort').then(() => []),
  ]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/** Returns the first addresses, of both families if there are both. */
function firstOf(addresses: readonly string[]): string[] {
  const ofFamily = (family: number) => addresses.filter((address) => isIP(address) === family);
  const six = ofFamily(6).slice(0, mostAddresses / 2);
  const four = ofFamily(4).slice(0, mostAddresses - six.length);
  return [...four, ...six];
}

/** Gives Node.js the checked addresses, in place of a second resolution. */
function lookupIn(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, _options, callback) => callback(null, entries);
}

function begin(
  url: URL,
  agent: http.Agent,
  { headers, body }: WebhookRequest,
  signal: AbortSignal,
) {
  const { request } = url.protocol === 'https:' ? https : http;
  const outgoing = request(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': `review-service${version}`,
      ...headers,
    },
    agent,
    signal,
  });
  // After the answer has begun, an error of the connection is thrown by its reader as well.
  outgoing.on('error', () => {});
  outgoing.end(body);
  return outgoing;
}

/** Notes how far a request comes, and ends it when interim answers go on. */
function watch(outgoing: ClientRequest, socket: Socket, progress: Progress): void {
  progress.stage = 'answer';
  if (socket.connecting) {
    const isTls = 'encrypted' in socket;
    progress.stage = 'connect';
    socket.once('connect', () => {
      progress.stage = isTls ? 'tls' : 'answer';
    });
    socket.once('secureConnect', () => {
      progress.stage = 'answer';
    });
  }
  const before = socket.bytesRead;
  progress.check = () => {
    if (socket.bytesRead - before > mostReceived) throw new Error('Too much arrives');
  };
  outgoing.on('information', () => {
    try {
      progress.check();
    } catch (error) {
      outgoing.destroy(error as Error);
    }
  });
}

/** Reads the first 64 KB. Then the connection is closed, because the rest would be in the way. */
async function read(response: IncomingMessage, progress: Progress): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    progress.check();
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= longestAnswer) break;
  }
  return `${Buffer.concat(chunks).subarray(0, longestAnswer)}`;
}

type Result = Omit<Delivery, 'milliseconds'>;

function resultOf({ statusCode: status = 0, headers }: IncomingMessage, answer: string): Result {
  if (status >= 200 && status < 300) return { outcome: 'delivered', status, answer };
  const failed = { status, answer, cause: 'status' as const };
  if (status === 410) return { ...failed, outcome: 'gone' };
  return { ...failed, outcome: 'failed', retryAfter: secondsIn(headers['retry-after']) };
}

/** Reads Retry-After: seconds or an HTTP date (RFC 9110 section 10.2.3). */
function secondsIn(header = ''): number | undefined {
  const date = /GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  const seconds = /^\d+$/.test(header) ? Number(header) : Math.ceil((date - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), longestRetryAfter);
}
