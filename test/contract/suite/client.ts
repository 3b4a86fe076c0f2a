import { setTimeout as wait } from 'node:timers/promises';
import { makeBrowser, type Reply } from './browser.ts';
import type { Operator } from './people.ts';
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
/** Repetitions of a request that the service refuses because there are too many. */
const mostRepetitions = 10;
/** In seconds: the longest wait before a repetition. Who refuses for longer has answered. */
const longestPause = 60;

export type Client = ReturnType<typeof makeClient>;

/** Makes the client that sends the requests of rows to a service, and runs its operator's tool. */
export function makeClient(things: Things, operator: Operator | undefined) {
  const browser = makeBrowser(send);
  if (operator) things.set('operator', 'here');
  /** The last answer of a service that refused to be asked so often. */
  let refusal: Answer | undefined;

  /** Sends a request, at the pace that the service allows. */
  async function send(url: string | URL, init: RequestInit): Promise<Reply> {
    for (let left = mostRepetitions; ; left--) {
      const reply = await replyTo(url, init);
      const pause = Number(reply.headers.get('retry-after') ?? 1);
      const isRepeated = reply.status === 429 && left > 0 && pause <= longestPause;
      if (!isRepeated) return reply;
      refusal = answerIn(reply);
      await wait(1000 * pause);
    }
  }

  /** Returns the parts of a request, with its names filled in. Throws Missing. */
  function parse(request: string) {
    const [person = '', method = '', ...rest] = request.split(' ');
    if (person !== 'visitor') things.get(person);
    if (person === 'operator') return { person, method, path: things.fill(rest.join(' ')) };
    return { person, method, path: things.address(rest.join(' ')) };
  }

  return {
    browser,
    parse,
    refusal: () => refusal,

    /** Sends the request of a row. Throws Missing, or Unreachable. */
    async ask(request: string, exchange: Exchange): Promise<Answer> {
      const { person, method, path } = parse(request);
      if (person === 'operator') {
        const answering = operator?.(method, ...path.split(' '));
        const body = await answering?.catch((error: Error) => error.message);
        return { status: typeof body === 'string' ? 500 : 200, headers: new Headers(), body };
      }
      if (person === 'browser') {
        return browser.answerConsent(path, method === 'APPROVE' ? 'yes' : 'no');
      }
      const headers = new Headers(exchange.headers);
      if (person !== 'visitor') headers.set('Authorization', `Bearer ${things.get(person)}`);
      const [type, body] = bodyOf(exchange);
      if (type && !headers.has('Content-Type')) headers.set('Content-Type', type);
      const answering = send(path, { method, headers, body, redirect: 'manual' });
      if (!(0 in exchange)) return answerIn(await answering);
      // Nobody may listen there.
      const silence = { status: 0, headers: new Headers(), body: undefined };
      return answering.then(answerIn).catch(() => silence);
    },
  };
}

function bodyOf({ json, form, body }: Exchange): [type?: string, body?: string] {
  if (json !== undefined) return ['application/json', JSON.stringify(json)];
  if (form !== undefined) {
    return ['application/x-www-form-urlencoded', `${new URLSearchParams(form)}`];
  }
  return body === undefined ? [] : ['application/json', body];
}

async function replyTo(url: string | URL, init: RequestInit): Promise<Reply> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(patience) });
    const { status, headers } = response;
    return { status, headers, text: await response.text() };
  } catch (error) {
    const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
    const silence = name === 'TimeoutError' && `no answer in ${patience / 1000} seconds`;
    throw new Unreachable(silence || cause?.message || cause?.code || message);
  }
}

function answerIn({ status, headers, text }: Reply): Answer {
  try {
    return { status, headers, body: JSON.parse(text) };
  } catch {
    return { status, headers, body: text };
  }
}
