import { setTimeout as wait } from 'node:timers/promises';
import { makeBrowser } from './browser.ts';
import type { Exchange } from './row.ts';
import type { Things } from './things.ts';

/** The answer to a request. A body that is not JSON is its text. */
export interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

/** Thrown if no answer comes. */
export class Unreachable extends Error {}

/** In milliseconds: the longest wait for an answer. A function of AWS may take ten seconds. */
const patience = 15_000;

/** Makes the client that sends the requests of rows to a service. */
export function makeClient(things: Things) {
  const browser = makeBrowser(send);
  /** The last answer to a client that sends too many requests. */
  let throttled: Answer | undefined;

  /** Sends a request, and repeats it for as long as the service refuses more requests. */
  async function send(url: string | URL, init: RequestInit): Promise<Response> {
    for (let left = 10; ; left--) {
      const response = await fetchOrSay(url, init);
      if (response.status !== 429 || left === 0) return response;
      throttled = await read(response);
      await wait(1000 * Number(response.headers.get('retry-after') ?? 1));
    }
  }

  return {
    browser,
    throttled: () => throttled,

    /** Sends the request of a row, whose names are filled in. Throws Missing for a person. */
    async ask(request: string, exchange: Exchange): Promise<Answer> {
      const [person = '', method = '', path = ''] = request.split(' ');
      const url = things.address(path);
      if (method === 'APPROVE' || method === 'REFUSE') {
        things.get('browser');
        return browser.answerConsent(url, method === 'APPROVE' ? 'yes' : 'no');
      }
      const headers = new Headers(exchange.headers);
      if (person !== 'visitor') headers.set('Authorization', `Bearer ${things.get(person)}`);
      const [type, body] = bodyOf(exchange);
      if (type && !headers.has('Content-Type')) headers.set('Content-Type', type);
      const answering = send(url, { method, headers, body, redirect: 'manual' });
      // The row expects that nobody listens.
      if (0 in exchange) {
        const silent = { status: 0, headers: new Headers(), body: undefined };
        return answering.then(read).catch(() => silent);
      }
      return read(await answering);
    },
  };
}

export type Client = ReturnType<typeof makeClient>;

function bodyOf({ json, form, body }: Exchange): [type?: string, body?: string] {
  if (json !== undefined) return ['application/json', JSON.stringify(json)];
  if (form !== undefined) {
    return ['application/x-www-form-urlencoded', `${new URLSearchParams(form)}`];
  }
  return body === undefined ? [] : ['application/json', body];
}

async function fetchOrSay(url: string | URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(patience) });
  } catch (error) {
    const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
    const silence = name === 'TimeoutError' && `no answer in ${patience / 1000} seconds`;
    throw new Unreachable(silence || cause?.message || cause?.code || message);
  }
}

async function read(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  try {
    return { status, headers, body: JSON.parse(text) };
  } catch {
    return { status, headers, body: text };
  }
}
