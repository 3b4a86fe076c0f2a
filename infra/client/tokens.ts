import { errorOf } from './errors.ts';

/** A person's grant to an application, as the token endpoint has answered. */
export interface Grant {
  access_token: string;
  refresh_token: string;
  client_id: string;
  client_secret: string;
  redirect_uri: string;
  /**
   * Stores the tokens that replace the former ones. It is awaited before they are used: a refresh
   * token works once, and whoever loses its successor has lost the grant.
   */
  keep(tokens: { access_token: string; refresh_token: string }): unknown;
}

/** The tokens of a grant. One refresh at a time, however many requests find the token expired. */
export class Tokens {
  readonly #grant: Grant;
  readonly #send: (body: URLSearchParams) => Promise<Response>;
  #refreshing: Promise<string> | undefined;

  /** `send` asks the token endpoint. After a lost answer it asks again, and gets the same pair. */
  constructor(grant: Grant, send: (body: URLSearchParams) => Promise<Response>) {
    this.#grant = { ...grant };
    this.#send = send;
  }

  get accessToken(): string {
    return this.#grant.access_token;
  }

  /** Returns the access token after `expired`. Throws AccessEnded if the grant has ended. */
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
    const response = await this.#send(
      new URLSearchParams({ grant_type, refresh_token, client_id, client_secret, redirect_uri }),
    );
    if (!response.ok) throw await errorOf(response);
    const tokens = (await response.json()) as { access_token: string; refresh_token: string };
    await keep(tokens);
    Object.assign(this.#grant, {
      access_token: tokens.access_token,
      refresh_token: tokens.refresh_token,
    });
    return tokens.access_token;
  }
}
