import { errorOf, InvalidAnswer } from './errors.ts';
import { baseOf, formSender, type Send, type SendOptions, sender } from './send.ts';
import { type Grant, type TokenSource, Tokens } from './tokens.ts';
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
export type { Grant, TokenSource };

export interface Options extends SendOptions {
  /** An access token that is never refreshed, such as a personal one. */
  token?: string;
  /** The tokens of a person. The access token is refreshed when it expires. */
  grant?: Grant | TokenSource;
}

/** POST requests that take an Idempotency-Key: a publication, a report, and an entity to add. */
const keyed = /\/(review(\/[^/]+\/report)?|entity)$/;

const aReview = '/review/{review_id}';

interface Request {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/**
 * A client of the API at a base URL, such as `https://reviews.example.org/ws/1`. Its token goes to
 * addresses below this URL alone.
 * @example
 *   const api = new ReviewClient(base, { token });
 *   const { id, etag } = await api.publish({ entity_id, entity_type: 'work', rating: 5, … });
 *   for await (const review of api.list('/review', { query: { entity_id } })) show(review);
 */
export class ReviewClient {
  readonly base: string;
  readonly #token: string | undefined;
  readonly #tokens: TokenSource | undefined;
  readonly #repeat: Send;

  constructor(base: string, { token, grant, ...options }: Options = {}) {
    this.base = baseOf(base);
    this.#repeat = sender(options);
    this.#token = token;
    const isSource = grant && 'refresh' in grant;
    this.#tokens = isSource
      ? grant
      : grant && new Tokens(grant, formSender(this.base, this.#repeat));
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
      url = this.#nextOf(response, url);
    }
  }

  /**
   * Publishes a review, or saves a draft. After a lost answer it asks again, and there is one
   * review. `etag` is for the next update.
   */
  async publish(review: NewReview): Promise<{ id: string; etag: string }> {
    const response = await this.#send('post', this.#urlOf('/review', {}), { body: review });
    const { id } = (await response.json()) as { id: string };
    return { id, etag: etagOf(response) };
  }

  /**
   * Changes the fields of a review that are given. With `ifMatch`, the ETag of what was read, it
   * throws PreconditionFailed if that has changed since. `etag` is for the next update.
   */
  async update(
    id: string,
    change: ReviewChange,
    { ifMatch }: { ifMatch?: string } = {},
  ): Promise<{ etag: string }> {
    const input: Request = { body: change };
    if (ifMatch !== undefined) input.headers = { 'If-Match': ifMatch };
    const response = await this.#send(
      'post',
      this.#urlOf(aReview, { path: { review_id: id } }),
      input,
    );
    await response.body?.cancel();
    return { etag: etagOf(response) };
  }

  /** Reads a review with its ETag, for an update. */
  async read(id: string): Promise<Answer<'/review/{review_id}', 'get'> & { etag: string }> {
    const response = await this.#send('get', this.#urlOf(aReview, { path: { review_id: id } }), {});
    const body = (await response.json()) as Answer<'/review/{review_id}', 'get'>;
    return { ...body, etag: etagOf(response) };
  }

  async #json<B>(method: Method, path: string, input: Request = {}): Promise<B> {
    const response = await this.#send(method, this.#urlOf(path, input), input);
    return response.json() as Promise<B>;
  }

  #urlOf(path: string, { path: parts = {}, query = {} }: Request): URL {
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
      const part = encodeURIComponent(`${parts[name] ?? ''}`);
      if (!part) throw new TypeError(`${path} needs a value for ${name}, in “path”`);
      return part;
    });
    const url = new URL(this.base + filled);
    // Dots, for example, would lead to another path.
    if (!path.startsWith('/') || url.origin + url.pathname !== this.base + filled) {
      throw new TypeError(`There is no path ${filled}: put ids and other values into “path”`);
    }
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }

  /** Returns the address of the next page (RFC 8288), or undefined on the last one. */
  #nextOf(response: Response, url: URL): URL | undefined {
    const [, link] = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
    if (link === undefined) return undefined;
    const next = new URL(link, url);
    const isOfService = next.href.startsWith(`${this.base}/`);
    if (isOfService && next.href !== url.href) return next;
    throw new InvalidAnswer(`The list cannot go on at ${next.href}`);
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
    const token = this.#token ?? this.#tokens?.accessToken;
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
}

const etagOf = (response: Response) => response.headers.get('etag') ?? '';
