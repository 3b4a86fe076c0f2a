/** In milliseconds: a longer wait is the caller's decision. */
const longestWait = 60_000;

export interface SendOptions {
  /** Attempts of a request that may be repeated, by default 5. */
  attempts?: number;
  /** Milliseconds for one attempt, by default 30,000. */
  timeout?: number;
  fetch?: typeof fetch;
}

/** Sends a request, and repeats it unless it must not be. */
export type Send = (url: URL | string, init: RequestInit, mayRepeat?: boolean) => Promise<Response>;

/**
 * Returns a function that sends a request. It repeats it after a lost answer, and after a refusal
 * for as long as `Retry-After` asks for.
 */
export function sender({ attempts = 5, timeout = 30_000, fetch: own }: SendOptions): Send {
  // Called as a function alone: browsers refuse it as a method of another object.
  const call: typeof fetch = own ?? ((...args) => fetch(...args));
  return async (url, init, mayRepeat = true) => {
    let isLost = false;
    for (let attempt = 1; ; attempt++) {
      const signals = [AbortSignal.timeout(timeout)];
      if (init.signal) signals.push(init.signal);
      let wait = 100 * 2 ** attempt * (1 + Math.random());
      try {
        const signal = AbortSignal.any(signals);
        // A redirect would carry the token, the client secret or a draft to another address.
        const response = await call(url, { ...init, signal, redirect: 'manual' });
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
  };
}

/** Sends a form to an OAuth endpoint. After a lost answer it asks again, for the same tokens. */
export type SendForm = (
  path: '/oauth/token' | '/oauth/revoke',
  form: Record<string, string>,
) => Promise<Response>;

/** Returns a function that sends forms to the OAuth endpoints of a service. */
export const formSender =
  (base: string, send: Send): SendForm =>
  (path, form) =>
    send(base + path, { method: 'POST', body: new URLSearchParams(form) });

/** Returns a base URL as it begins each address. Throws TypeError for another address. */
export function baseOf(text: string): string {
  const base = URL.canParse(text) ? new URL(text).href.replace(/\/+$/, '') : '';
  if (/^https?:[^@?#]+\/ws\/1$/.test(base)) return base;
  throw new TypeError(
    `${text} is not the base URL of a service: it ends with /ws/1, as in https://reviews.example.org/ws/1`,
  );
}
