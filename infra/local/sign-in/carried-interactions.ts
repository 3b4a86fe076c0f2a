// The interactions of the identity provider. The browser of each carries it in a cookie.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseCookie } from 'cookie';
import { type Adapter, errors } from 'oidc-provider';
import * as v from 'valibot';
import { open, seal } from '../../../shared/pages/session/sealed.ts';
import { cookieName, setCookie } from '../../../shared/pages/session/session.ts';

/** Sign-ins of one browser at a time. Their cookies fit the head that a usual proxy accepts. */
const mostOfBrowser = 3;

/** In bytes: browsers reject a larger cookie, counting its name and attributes. */
const largestCookie = 4096;

/** The library's payload, and a secret of 128 bits that proves which browser began. */
const Carried = v.object({
  payload: v.looseObject({ jti: v.string(), exp: v.number() }),
  browser: v.string(),
});
type Carried = v.InferOutput<typeof Carried>;

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Interactions that the answer sets. The library reads an interaction after saving it. */
  saved: Map<string, Carried | undefined>;
}

/**
 * Makes an adapter for interactions that stores nothing: a sign-in that somebody only begins costs
 * the service no memory. Without a store, nobody else can go on with an interaction: a cookie of a
 * sibling domain cannot replace a `__Host-` cookie. On plain HTTP, which only a loopback address
 * has, the cookie lacks the prefix. `mayResume` is asked about an interaction that signs somebody
 * in, and `end` is called when it is over.
 */
export function carryInteractions({
  mayResume = () => true,
  end = () => {},
}: {
  mayResume?: (account: string, browser: string) => boolean;
  end?: (browser: string) => void;
} = {}) {
  const exchanges = new AsyncLocalStorage<Exchange>();

  function current(): Exchange {
    const exchange = exchanges.getStore();
    if (!exchange) throw new Error('An interaction is used outside of a request');
    return exchange;
  }

  const cookies = () => parseCookie(current().request.headers.cookie ?? '');

  async function read(id: string): Promise<Carried | undefined> {
    const { saved } = current();
    if (saved.has(id)) return saved.get(id);
    const carried = await opened(cookies()[cookieName(nameOf(id))]);
    return carried?.payload.jti === id ? carried : undefined;
  }

  function answer(id: string, carried: Carried | undefined, cookie: string) {
    const { saved, response } = current();
    saved.set(id, carried);
    response.appendHeader('Set-Cookie', cookie);
  }

  /** Deletes the oldest of too many, and what cannot be opened. */
  async function makeRoom(id: string) {
    const own = cookieName(nameOf(id));
    const prefix = cookieName(nameOf(''));
    const names = Object.keys(cookies()).filter((name) => name.startsWith(prefix) && name !== own);
    const others = await Promise.all(
      names.slice(0, 20).map(async (name) => {
        return { name, exp: (await opened(cookies()[name]))?.payload.exp ?? 0 };
      }),
    );
    const newestFirst = others.toSorted((a, b) => b.exp - a.exp);
    for (const [i, { name, exp }] of newestFirst.entries()) {
      if (exp > 0 && i < mostOfBrowser - 1) continue;
      const deletion = setCookie(nameOf(name.slice(prefix.length)), '', 0);
      current().response.appendHeader('Set-Cookie', deletion);
    }
  }

  const adapter: Adapter = {
    async upsert(id, payload, seconds = 0) {
      const browser = (await read(id))?.browser ?? randomBytes(16).toString('base64url');
      const carried = v.parse(Carried, { payload, browser });
      const cookie = setCookie(nameOf(id), await seal('interaction', carried, seconds), seconds);
      if (cookie.length > largestCookie) throw new errors.InvalidRequest('the request is too long');
      await makeRoom(id);
      answer(id, carried, cookie);
    },
    async find(id) {
      const carried = await read(id);
      if (!carried) return undefined;
      const account = accountOf(carried);
      if (account !== undefined && !mayResume(account, carried.browser)) return undefined;
      return carried.payload;
    },
    async destroy(id) {
      const carried = await read(id);
      if (carried && accountOf(carried) !== undefined) end(carried.browser);
      answer(id, undefined, setCookie(nameOf(id), '', 0));
    },
    // The library calls these for other models only.
    async findByUid() {},
    async findByUserCode() {},
    async consume() {},
    async revokeByGrantId() {},
  };

  return {
    adapter,

    /** Calls `work`, whose interactions are those of the browser that sent the request. */
    during<T>(request: IncomingMessage, response: ServerResponse, work: () => T): T {
      return exchanges.run({ request, response, saved: new Map() }, work);
    },

    /** Returns the secret of the browser if it began the interaction. */
    browserOf: async (id: string) => (await read(id))?.browser,
  };
}

async function opened(cookie: string | undefined): Promise<Carried | undefined> {
  return cookie ? (await open('interaction', Carried, cookie))?.content : undefined;
}

/** Returns the account that an interaction signs in, once the person has proved an address. */
function accountOf({ payload }: Carried): string | undefined {
  const { result } = payload as { result?: { login?: { accountId?: string } } };
  return result?.login?.accountId;
}

/** Names a cookie by a part of the id. The whole id is compared later. */
const nameOf = (id: string) => `interaction-${id.slice(0, 12)}`;
