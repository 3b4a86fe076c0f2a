import { errorOf, InvalidAnswer } from './errors.ts';
import type { SendForm } from './send.ts';

/** The pair of tokens that a grant has at a time. */
export interface TokenPair {
  access_token: string;
  refresh_token: string;
}

/** A person's grant to an application, as the token endpoint has answered. */
export interface Grant extends TokenPair {
  client_id: string;
  /** Absent for a public application. */
  client_secret?: string;
  redirect_uri: string;
  /**
   * Stores the tokens that replace the former ones. It is awaited before they are used: a refresh
   * token works once, so the grant is lost with its successor. If it fails, it gets the same tokens
   * at the next request.
   */
  keep(tokens: TokenPair): unknown;
}

/** A grant that keeps its tokens by itself, such as BrowserGrant. */
export interface TokenSource {
  /** Undefined while nobody is signed in. */
  readonly accessToken: string | undefined;
  /** Returns the access token after `expired`. Throws AccessEnded if the grant has ended. */
  refresh(expired: string): Promise<string>;
}

/** Asks the token endpoint. To keep anything else than tokens would lose the grant. */
export async function askForTokens(
  send: SendForm,
  form: Record<string, string>,
): Promise<TokenPair> {
  const response = await send('/oauth/token', form);
  if (!response.ok) throw await errorOf(response);
  const answer = (await response.json().catch(() => null)) as Partial<TokenPair> | null;
  if (isToken(answer?.access_token) && isToken(answer?.refresh_token)) return answer as TokenPair;
  throw new InvalidAnswer('The token endpoint has answered without tokens');
}

const isToken = (value: unknown) => typeof value === 'string' && value !== '';

/** The tokens of a grant. One refresh at a time, however many requests find the token expired. */
export class Tokens implements TokenSource {
  readonly #grant: Grant;
  readonly #send: SendForm;
  #refreshing: Promise<string> | undefined;
  /** New tokens that are not kept yet. */
  #next: TokenPair | undefined;

  constructor(grant: Grant, send: SendForm) {
    this.#grant = { ...grant };
    this.#send = send;
  }

  get accessToken(): string {
    return this.#grant.access_token;
  }

  async refresh(expired: string): Promise<string> {
    // Another request has refreshed it since this one was sent.
    if (this.accessToken !== expired) return this.accessToken;
    this.#refreshing ??= this.#renew().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #renew(): Promise<string> {
    const { refresh_token, client_id, client_secret, redirect_uri, keep } = this.#grant;
    const grant_type = 'refresh_token';
    const form = { grant_type, refresh_token, client_id, redirect_uri };
    // If they could not be kept, the refresh token is spent already.
    this.#next ??= await askForTokens(
      this.#send,
      client_secret === undefined ? form : { ...form, client_secret },
    );
    await keep(this.#next);
    const { access_token, refresh_token: next } = this.#next;
    Object.assign(this.#grant, { access_token, refresh_token: next });
    this.#next = undefined;
    return access_token;
  }
}
