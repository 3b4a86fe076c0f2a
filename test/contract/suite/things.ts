import { randomUUID } from 'node:crypto';

/** Thrown if a row needs something that nobody has. `reason` says why, if an earlier row knows. */
export class Missing extends Error {
  readonly thing: string;
  readonly reason: string | undefined;

  constructor(thing: string, reason?: string) {
    super(`there is no ${thing}`);
    this.thing = thing;
    this.reason = reason;
  }
}

export type Things = ReturnType<typeof makeThings>;

/**
 * Makes the values that rows use by name: tokens of people, ids, cursors. A name that begins with
 * `entity` is a new UUID when it is first used. `{album:upper}` and `{album:bare}` are two other
 * forms of a UUID.
 */
export function makeThings(base: string, environment: NodeJS.ProcessEnv) {
  const auth = environment.CONTRACT_AUTH ?? base.replace(/\/[^/]*$/, '');
  const things = new Map<string, string>([
    ['auth', auth],
    ['base', base],
    ['nobody', '00000000-0000-4000-8000-000000000000'],
  ]);

  const lost = new Map<string, string>();
  if (auth.startsWith('https:')) things.set('plain', auth.replace('https:', 'http:'));

  function find(name: string): string | undefined {
    const [plain = '', form] = name.split(':');
    if (lost.has(plain)) return undefined;
    if (plain === 'client_basic') {
      return Buffer.from(`${get('client_id')}:${get('client_secret')}`).toString('base64');
    }
    if (plain.startsWith('entity') && !things.has(plain)) things.set(plain, randomUUID());
    const value = things.get(plain) ?? environment[`CONTRACT_${plain.toUpperCase()}`];
    if (form === 'upper') return value?.toUpperCase();
    return form === 'bare' ? value?.replaceAll('-', '') : value;
  }

  /** Throws Missing. */
  function get(name: string): string {
    const [plain = ''] = name.split(':');
    const value = find(name);
    if (value === undefined) throw new Missing(plain, lost.get(plain));
    return value;
  }

  const fillText = (text: string, write: (value: string) => string) =>
    text.replaceAll(/\{(\w+(?::\w+)?)\}/g, (_, name: string) => write(get(name)));

  function fill<T>(value: T): T {
    if (typeof value === 'string') return fillText(value, (each) => each) as T;
    if (Array.isArray(value)) return value.map(fill) as T;
    if (Object.prototype.toString.call(value) !== '[object Object]') return value;
    const fields = Object.entries(value as object);
    return Object.fromEntries(fields.map(([name, each]) => [fill(name), fill(each)])) as T;
  }

  return {
    find,
    get,
    set: (name: string, value: string) => things.set(name, value),
    /** Says why nobody has a value. Rows that need it then cannot be tried, for the same reason. */
    lose: (name: string, reason: string) => lost.set(name, reason),
    /** Replaces each name in braces, in all texts of a value. Throws Missing. */
    fill,
    /** Returns the URL of a path, which is relative to the base URL or to that of a first name. */
    address(path: string): string {
      const [, host, rest = ''] = /^(?:\{(\w+)\})?(.*)/.exec(path) ?? [];
      return get(host ?? 'base') + fillText(rest, encodeURIComponent);
    },
  };
}
