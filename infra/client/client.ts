import { errorOf } from './errors.ts';
import { type Grant, Tokens } from './tokens.ts';
import type {
  Answer,
  Inputs,
  Item,
  ListPath,
  Method,
  NewReview,
  PathOf,
  ReviewChange,
} from './types.ts';

export * from './errors.ts';
export type * from './types.ts';
export type { Grant };

export interface Options {
  /** An access token that is never refreshed, such as a personal one. */
  token?: string;
  /** The tokens of a person. The access token is refreshed when it expires. */
  grant?: Grant;
  /** Attempts of a request that may be repeated, by default 5. */
  attempts?: number;
  /** Milliseconds for one attempt, by default 30,000. */
  timeout?: number;
  fetch?: typeof fetch;
}

/** In milliseconds: a longer wait is the caller's decision. */
const longestWait = 60_000;

/** POST requests that take an Idempotency-Key: a publication and a report. */
const keyed = /\/review(\/[^/]+\/report)?$/;

interface Request {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/**
 * A client of the API at a base URL, such as `https://reviews.example.org/ws/1`.
 * @example
 *   const api = new ReviewClient(base, { token });
 *   const { id, etag } = await api.publish({ entity_id, entity_type: 'work', rating: 5, … });
 *   for await (const review of api.list('/review', { query: { entity_id } })) show(review);
 */
export class ReviewClient {
  readonly base: string;
  readonly #options: Required<Pick<Options, 'attempts' | 'timeout' | 'fetch'>> & Options;
  readonly #tokens: Tokens | undefined;

  constructor(base: string, options: Options = {}) {
    this.base = base.replace(/\/$/, '');
    // Called as a function alone: browsers refuse it as a method of another object.
    const call: typeof fetch = options.fetch ?? ((...args) => fetch(...args));
    this.#options = { attempts: 5, timeout: 30_000, ...options, fetch: call };
    const { grant } = options;
    this.#tokens =
      grant &&
      new Tokens(grant, (body) =>
        this.#repeat(`${this.base}/oauth/token`, { method: 'POST', body }),
      );
  }

  /** Reads. The path is that of the description, its parameters are in `path`. */
  async get<P extends PathOf<'get'>>(
    path: P,
    ...input: Inputs<P, 'get'>
  ): Promise<Answer<P, 'get'>> {
    return this.#json('get', path, input[0]);
  }

  async post<P extends PathOf<'post'>>(
    path: P,
    ...input: Inputs<P, 'post'>
  ): Promise<Answer<P, 'post'>> {
    return this.#json('post', path, input[0]);
  }

  async put<P extends PathOf<'put'>>(
    path: P,
    ...input: Inputs<P, 'put'>
  ): Promise<Answer<P, 'put'>> {
    return this.#json('put', path, input[0]);
  }

  async delete<P extends PathOf<'delete'>>(
    path: P,
    ...input: Inputs<P, 'delete'>
  ): Promise<Answer<P, 'delete'>> {
    return this.#json('delete', path, input[0]);
  }

  /** All elements of a list, page by page. Filters go into `query`. */
  async *list<P extends ListPath>(
    path: P,
    ...inputs: Inputs<P, 'get'>
  ): AsyncGenerator<Item<P>, void> {
    const [input = {}] = inputs;
    let url: URL | undefined = this.#urlOf(path, input);
    while (url) {
      const response: Response = await this.#send('get', url, input);
      const page = (await response.json()) as object;
      yield* (Object.values(page).find(Array.isArray) ?? []) as Item<P>[];
      url = nextOf(response, url);
    }
  }

  /**
   * Publishes a review, or saves a draft. A lost answer is asked for again, so there is one review.
   * `etag` is good for the next update.
   */
  async publish(review: NewReview): Promise<{ id: string; etag: string }> {
    const response = await this.#send('post', this.#urlOf('/review', {}), { body: review });
    const { id } = (await response.json()) as { id: string };
    return { id, etag: etagOf(response) };
  }

  /**
   * Changes the fields of a review that are given. With `ifMatch`, the ETag of what was read, it
   * throws PreconditionFailed if that has changed since. `etag` is good for the next update.
   */
  async update(
    id: string,
    change: ReviewChange,
    { ifMatch }: { ifMatch?: string } = {},
  ): Promise<{ etag: string }> {
    const input: Request = { body: change };
    if (ifMatch !== undefined) input.headers = { 'If-Match': ifMatch };
    const response = await this.#send('post', this.#urlOf(`/review/${id}`, {}), input);
    await response.body?.cancel();
    return { etag: etagOf(response) };
  }

  /** Reads a review with its ETag, for an update. */
  async read(id: string): Promise<Answer<'/review/{review_id}', 'get'> & { etag: string }> {
    const response = await this.#send('get', this.#urlOf(`/review/${id}`, {}), {});
    const body = (await response.json()) as Answer<'/review/{review_id}', 'get'>;
    return { ...body, etag: etagOf(response) };
  }

  async #json<B>(method: Method, path: string, input: Request = {}): Promise<B> {
    const response = await this.#send(method, this.#urlOf(path, input), input);
    return response.json() as Promise<B>;
  }

  #urlOf(path: string, { path: parts = {}, query = {} }: Request): URL {
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(parts[name])));
    const url = new URL(this.base + filled);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }

  /** Sends with the access token. If it has expired, refreshes it and sends once more. */
  async #send(method: Method, url: URL, input: Request): Promise<Response> {
    const { body, headers = {}, signal } = input;
    const all: Record<string, string> = { ...headers };
    if (method === 'post' && keyed.test(url.pathname)) {
      all['Idempotency-Key'] ??= `"${crypto.randomUUID()}"`;
    }
    const init: RequestInit = { method: method.toUpperCase(), headers: all };
    if (signal) init.signal = signal;
    if (body !== undefined) {
      all['Content-Type'] = 'application/json';
      init.body = JSON.stringify(body);
    }
    const token = this.#options.token ?? this.#tokens?.accessToken;
    if (token) all.Authorization = `Bearer ${token}`;
    // Once it was changed, the condition of a repetition would fail.
    const mayRepeat = !('If-Match' in all);
    let response = await this.#repeat(url, init, mayRepeat);
    if (response.status === 401 && token && this.#tokens) {
      await response.body?.cancel();
      all.Authorization = `Bearer ${await this.#tokens.refresh(token)}`;
      response = await this.#repeat(url, init, mayRepeat);
    }
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  /** Repeats after a lost answer, and after a refusal for as long as `Retry-After` asks for. */
  async #repeat(url: URL | string, init: RequestInit, mayRepeat = true): Promise<Response> {
    const { attempts, timeout, fetch: call } = this.#options;
    let isLost = false;
    for (let attempt = 1; ; attempt++) {
      const signals = [AbortSignal.timeout(timeout)];
      if (init.signal) signals.push(init.signal);
      let wait = 100 * 2 ** attempt * (1 + Math.random());
      try {
        const response = await call(url, { ...init, signal: AbortSignal.any(signals) });
        const { status } = response;
        // The attempt before has deleted it, and its answer was lost.
        if (isLost && status === 404 && init.method === 'DELETE') return Response.json({});
        const after = Number(response.headers.get('retry-after') ?? Number.NaN) * 1000;
        const isPassing = status === 429 || (status > 500 && mayRepeat);
        if (!isPassing || !(after <= longestWait) || attempt >= attempts) return response;
        await response.body?.cancel();
        wait += after;
      } catch (error) {
        if (attempt >= attempts || !mayRepeat || init.signal?.aborted) throw error;
        isLost = true;
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

const etagOf = (response: Response) => response.headers.get('etag') ?? '';

/** Returns the address of the next page (RFC 8288), or undefined on the last one. */
function nextOf(response: Response, url: URL): URL | undefined {
  const [, next] = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
  return next === undefined ? undefined : new URL(next, url);
}
