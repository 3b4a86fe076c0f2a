import { AccessEnded, errorOf, InvalidAnswer } from './errors.ts';
import { baseOf, formSender, type SendForm, type SendOptions, sender } from './send.ts';
import { askForTokens, type TokenPair, type TokenSource } from './tokens.ts';

export interface BrowserOptions extends SendOptions {
  /** The client id of a public application, which has no secret. */
  client_id: string;
  /** The registered redirect URI: the address of the page, exactly. */
  redirect_uri: string;
  /** Scopes, separated by spaces. Without them, the page may only read. */
  scope?: string;
}

/** The sign-in has failed. `code` is the error of the answer: `access_denied` if it was refused. */
export class SignInFailed extends Error {
  override readonly name = 'SignInFailed';
  readonly code: string;

  constructor(code: string, description: string) {
    super(description);
    this.code = code;
  }
}

/** Tokens as all tabs share them. Each sign-in has an id. */
type Stored = TokenPair & { id: string };

/**
 * Signs a person in on a page, by the authorization code flow with PKCE. The tokens are in
 * `localStorage`, and all tabs refresh them as one. The page needs https or localhost.
 * @example
 *   const grant = new BrowserGrant(base, { client_id, redirect_uri, scope: 'review' });
 *   const api = new ReviewClient(base, { grant });
 *   if (await grant.resume()) show(await api.get('/user/me'));
 *   else button.onclick = () => grant.signIn();
 */
export class BrowserGrant implements TokenSource {
  readonly #options: BrowserOptions;
  readonly #issuer: string;
  readonly #key: string;
  readonly #send: SendForm;
  /** The sign-in of this tab. Those of other people in other tabs are not its own. */
  #id: string | undefined;
  #resuming: Promise<boolean> | undefined;

  constructor(base: string, options: BrowserOptions) {
    const url = baseOf(base);
    this.#options = options;
    this.#issuer = url.replace(/\/1$/, '');
    this.#key = `${url} ${options.client_id}`;
    this.#send = formSender(url, sender(options));
  }

  get accessToken(): string | undefined {
    return this.#read()?.access_token;
  }

  /**
   * Call it when the page begins. Finishes a sign-in that leads back to this page, or goes on with
   * an earlier one. Returns true if somebody is signed in. Throws SignInFailed if the person or the
   * service has refused.
   */
  resume(): Promise<boolean> {
    this.#resuming ??= this.#resume().finally(() => {
      this.#resuming = undefined;
    });
    return this.#resuming;
  }

  async #resume(): Promise<boolean> {
    const answer = new URL(location.href).searchParams;
    const pending = `${this.#key} ${answer.get('state')}`;
    const verifier = sessionStorage.getItem(pending);
    if (verifier === null) {
      // No answer, or not to a question of this tab.
      this.#id = parse(localStorage.getItem(this.#key))?.id;
    } else {
      sessionStorage.removeItem(pending);
      history.replaceState(history.state, '', this.#options.redirect_uri);
      await this.#redeem(answer, verifier);
    }
    return this.accessToken !== undefined;
  }

  /** Sends the person to the service, which leads back to this page. */
  async signIn(): Promise<void> {
    location.assign(await this.authorizationUrl());
  }

  /** Returns the address of the consent page. The answer is for this tab alone. */
  async authorizationUrl(): Promise<string> {
    const { client_id, redirect_uri, scope = '' } = this.#options;
    const verifier = random();
    const state = random();
    sessionStorage.setItem(`${this.#key} ${state}`, verifier);
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
    const query = new URLSearchParams({
      response_type: 'code',
      client_id,
      redirect_uri,
      scope,
      state,
      code_challenge: base64url(new Uint8Array(digest)),
      code_challenge_method: 'S256',
    });
    return `${this.#issuer}/oauth/authorize?${query}`;
  }

  /** Signs out in all tabs, and revokes the tokens. They are forgotten also if that fails. */
  async signOut(): Promise<void> {
    const { client_id } = this.#options;
    const token = await this.#alone(async () => {
      const stored = this.#read();
      if (stored) localStorage.removeItem(this.#key);
      return stored?.refresh_token;
    });
    if (token === undefined) return;
    const response = await this.#send('/oauth/revoke', { token, client_id });
    if (!response.ok) throw await errorOf(response);
  }

  refresh(expired: string): Promise<string> {
    return this.#alone(async () => {
      const stored = this.#read();
      if (!stored) throw signedOut();
      // Another tab has refreshed it.
      if (stored.access_token !== expired) return stored.access_token;
      const { client_id } = this.#options;
      const { id, refresh_token } = stored;
      const form = { grant_type: 'refresh_token', refresh_token, client_id };
      try {
        return this.#write({ ...(await askForTokens(this.#send, form)), id });
      } catch (error) {
        if (error instanceof AccessEnded) localStorage.removeItem(this.#key);
        throw error;
      }
    });
  }

  async #redeem(answer: URLSearchParams, code_verifier: string): Promise<void> {
    const { client_id, redirect_uri } = this.#options;
    const { code = '', error, error_description = error, iss } = Object.fromEntries(answer);
    // An answer of another service is an attack (RFC 9207).
    if (iss !== this.#issuer) throw new InvalidAnswer('Another service has answered the sign-in');
    if (error !== undefined) throw new SignInFailed(error, `${error_description}`);
    const grant_type = 'authorization_code';
    const form = { grant_type, code, code_verifier, client_id, redirect_uri };
    const tokens = await askForTokens(this.#send, form);
    this.#id = random();
    await this.#alone(async () => this.#write({ ...tokens, id: this.#id as string }));
  }

  /** Returns the tokens of this tab's sign-in. */
  #read(): Stored | undefined {
    const stored = parse(localStorage.getItem(this.#key));
    return stored && stored.id === this.#id ? stored : undefined;
  }

  #write({ access_token, refresh_token, id }: Stored): string {
    localStorage.setItem(this.#key, JSON.stringify({ access_token, refresh_token, id }));
    return access_token;
  }

  /** Runs while no other tab does. A refresh token works once. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    return navigator.locks.request(this.#key, work) as Promise<unknown> as Promise<T>;
  }
}

/** The error of a request with a token that another tab has forgotten. */
const signedOut = () =>
  new AccessEnded(new Response(null, { status: 401 }), {
    error: 'signed_out',
    description: 'The person has signed out in another tab',
  });

/** Returns undefined for what was stored by another program. */
function parse(text: string | null): Stored | undefined {
  try {
    return JSON.parse(text ?? '') ?? undefined;
  } catch {
    return undefined;
  }
}

/** 43 characters: the shortest verifier (RFC 7636 section 4.1). */
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

const base64url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
