import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, type Client, Unreachable } from './client.ts';
import { type Expected, faultOf, sentence } from './match.ts';
import { isOfPeople } from './people.ts';
import { type Exchange, type Row, type Section, statusesIn } from './row.ts';
import { Missing, type Things } from './things.ts';

/** The outcome of a row. */
export interface Result {
  section: string;
  source: Row['source'];
  claim: string;
  /** The request as it was sent. */
  request: string;
  outcome: 'holds' | 'differs' | 'untried';
  /** The difference, or the reason why it could not be tried. */
  why?: string;
}

/** Sees each answer, to know what stays behind. */
export type Witness = (request: string, answer: Answer) => void;

interface Tools {
  client: Client;
  things: Things;
  witness: Witness;
}

/** In milliseconds: the longest wait for lists and background work to follow a change. */
const longestLag = 20_000;

/** Returns the names that a row uses: of its person, and those in braces. */
export function namesIn({ request, exchange }: Row): string[] {
  const text = request + JSON.stringify(exchange);
  const inBraces = [...text.matchAll(/\{(\w+)/g)].map(([, name = '']) => name);
  return [request.split(' ')[0] ?? '', ...inBraces];
}

/** Returns what became of the promise to say when a refused request may be repeated. */
export function paceOf({ refusal }: Client): Result {
  const claim = 'Beyond the limit of requests the answer is 429 with Retry-After';
  const result = { section: 'Every answer', source: 'decision', claim, request: 'any' } as const;
  const answer = refusal();
  if (!answer) {
    return { ...result, outcome: 'untried', why: 'the service did not refuse a request' };
  }
  const has = { 'retry-after': /^\d+$/ };
  const fault = faultIn(answer, 'visitor GET /', { 429: 'too_many_requests', has });
  return { ...result, outcome: fault ? 'differs' : 'holds', why: fault?.why };
}

/**
 * Tries the rows of all sections in their order. Throws Unreachable if the service does not answer
 * the first, or three in a row.
 */
export async function* tryRows(sections: readonly Section[], tools: Tools): AsyncGenerator<Result> {
  let silences = 2;
  for (const { title: section, rows } of sections) {
    for (const row of rows) {
      try {
        for (const result of await tryRow(row, tools)) yield { section, ...withoutSecrets(result) };
        silences = 0;
      } catch (error) {
        if (!(error instanceof Unreachable) || ++silences === 3) throw error;
        const { source, claim, request } = row;
        yield { section, source, claim, request, outcome: 'differs', why: error.message };
      }
    }
  }
}

/** Takes tokens and secrets out of what is reported. */
function withoutSecrets(result: Outcome): Outcome {
  const conceal = (text: string) =>
    text.replaceAll(/(client_secret=)[^&]*/g, '$1…').replaceAll(/[\w-]{40,}/g, '…');
  const { request, why } = result;
  return { ...result, request: conceal(request), why: why && conceal(why) };
}

type Outcome = Omit<Result, 'section'>;

/** Returns the names that later rows have from a row: what it keeps, reviews and changes. */
function namesMadeBy({ request, exchange }: Row): string[] {
  const { keep, json } = exchange;
  const reviewed = namesAfter(/\{(entity\w+)/g, JSON.stringify(json ?? ''));
  const isChange = !/ (GET|HEAD|OPTIONS) /.test(request) && 200 in exchange;
  const changed = isChange ? namesAfter(/\/\{(\w+)/g, request) : [];
  // The lists of an entity show what has become of its reviews.
  const shown = changed.map((name) => `entity_${name}`);
  return [...Object.keys(keep ?? {}), ...reviewed, ...changed, ...shown];
}

const namesAfter = (pattern: RegExp, text: string) =>
  Array.from(text.matchAll(pattern), ([, name = '']) => name);

async function tryRow(row: Row, tools: Tools): Promise<Outcome[]> {
  const { source, claim } = row;
  const untried: Outcome = { source, claim, request: row.request, outcome: 'untried' };
  const without = (why: string): Outcome[] => {
    for (const name of namesMadeBy(row)) tools.things.lose(name, why);
    return [{ ...untried, why }];
  };
  if (row.untried) return without(row.untried);
  try {
    const { person, method, path } = tools.client.parse(row.request);
    const request = `${person} ${method} ${path}`;
    const fault = await tryUntil(row, tools);
    // What prepares other rows is reported only if it fails. They cannot be tried then.
    if (source === 'given') return fault ? without(fault.why) : [];
    const holds: Outcome = { source, claim, request, outcome: 'holds' };
    if (!fault) return [holds];
    const differs: Outcome = { ...holds, outcome: 'differs', why: fault.why };
    if (source === 'decision' || !fault.isInError) return [differs];
    return [holds, { ...differs, source: 'decision', claim: `${claim}: the error` }];
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    return without(error.reason ?? whyMissing(error.thing));
  }
}

function whyMissing(thing: string): string {
  if (thing === 'plain') return 'its address begins with http://, as it may on one machine';
  if (thing === 'browser') return 'it needs a browser of Ann, signed in: set CONTRACT_COOKIE';
  if (thing === 'operator') return 'it needs the operator’s tool: give --admin';
  return isOfPeople(thing)
    ? `it needs ${thing}: give --admin, or set CONTRACT_${thing.toUpperCase()}`
    : `it needs ${thing}, which no earlier row got`;
}

interface Fault {
  why: string;
  /** True if only the body or a header of an error differs. */
  isInError: boolean;
}

/** Sends the request of a row. Returns what differs, if anything does. Throws Missing. */
async function tryUntil(row: Row, { client, things, witness }: Tools): Promise<Fault | undefined> {
  const exchange = things.fill(row.exchange);
  if (exchange.after !== undefined) things.get(exchange.after);
  const giveUp = Date.now() + longestLag;
  for (;;) {
    const answer = await client.ask(row.request, exchange);
    witness(row.request, answer);
    keep(answer, exchange.keep, things);
    const fault = faultIn(answer, row.request, exchange);
    if (!fault || !exchange.eventually || Date.now() > giveUp) return fault;
    await wait(200);
  }
}

/** Keeps values of an answer for later rows. */
function keep({ headers, body }: Answer, names: Exchange['keep'], things: Things): void {
  for (const [name, path] of Object.entries(names ?? {})) {
    const value = path.startsWith('@')
      ? headers.get(path.slice(1))
      : path.split('.').reduce<unknown>((part, field) => Object(part)[field], body);
    if (value !== undefined && value !== null) things.set(name, `${value}`);
  }
}

/** Returns what differs in an answer. */
function faultIn(
  { status, headers, body }: Answer,
  request: string,
  exchange: Exchange,
): Fault | undefined {
  const statuses = statusesIn(exchange);
  if (!statuses.includes(`${status}`)) {
    const wanted = statuses.join(' or ');
    const why = `expected status ${wanted}, got ${status} ${JSON.stringify(body ?? '').slice(0, 200)}`;
    return { why, isInError: false };
  }
  const wanted = exchange[status];
  const isError = typeof wanted === 'string' && status >= 400;
  const expected: Expected = isError ? { error: wanted, description: sentence } : wanted;
  const isJson =
    !/^(operator|browser) | HEAD | \{/.test(request) && ![0, 204, 304].includes(status);
  const type: Record<string, Expected> = isJson ? { 'content-type': /^application\/json\b/ } : {};
  const parts = Object.entries({ ...type, ...exchange.has });
  const inBody = expected === undefined ? undefined : faultOf(body, expected);
  const why =
    inBody ??
    parts
      .map(([name, each]) => faultOf(headers.get(name) ?? undefined, each, name))
      .find((fault) => fault !== undefined);
  return why === undefined ? undefined : { why, isInError: status >= 400 };
}
