import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, type Client, Unreachable } from './client.ts';
import { type Expected, faultOf, sentence } from './match.ts';
import type { Operator } from './people.ts';
import type { Row, Section } from './row.ts';
import { Missing, type Things } from './things.ts';

/** What became of a row. `why` says what differs, or why it could not be tried. */
export interface Result {
  section: string;
  row: Row;
  outcome: 'holds' | 'differs' | 'untried';
  why?: string;
}

/** Notified of each answer, to know what stays behind. */
export type Witness = (request: string, answer: Answer) => void;

export interface Tools {
  client: Client;
  things: Things;
  operator: Operator | undefined;
  /** False if people may only read. */
  canWrite: boolean;
  witness: Witness;
}

/** In milliseconds: the longest wait for lists and background work to follow a change. */
const longestLag = 20_000;

/** Returns the names that a row uses: of its person, and those in braces. */
export function namesIn({ request, exchange }: Row): string[] {
  const text = request + JSON.stringify(exchange);
  const inBraces = [...text.matchAll(/\{(\w+)/g)].map(([, name = '']) => name);
  return [personOf(request), ...inBraces];
}

const personOf = (request: string) => request.split(' ')[0] ?? '';

/** Tries the rows of all sections in their order. Throws Unreachable if the service is silent. */
export async function* tryRows(sections: readonly Section[], tools: Tools): AsyncGenerator<Result> {
  let silences = 0;
  for (const { title, rows } of sections) {
    for (const row of rows) {
      const result = { section: title, row };
      try {
        const why = await tryRow(row, tools);
        silences = 0;
        if (why === undefined && row.source === 'given') continue;
        const differs = row.source === 'given' ? 'untried' : 'differs';
        yield { ...result, outcome: why === undefined ? 'holds' : differs, why };
      } catch (error) {
        if (error instanceof Unreachable) {
          yield { ...result, outcome: 'differs', why: error.message };
          if (++silences === 3 || tools.things.find('reached') === undefined) throw error;
        } else if (error instanceof Missing || error instanceof NotAllowed) {
          yield { ...result, outcome: 'untried', why: error.message };
        } else throw error;
      }
    }
  }
}

class NotAllowed extends Error {}

/** Returns what differs, if anything does. Throws Missing or NotAllowed if it cannot be tried. */
async function tryRow(row: Row, tools: Tools): Promise<string | undefined> {
  const { client, things, operator, canWrite, witness } = tools;
  const exchange = things.fill(row.exchange);
  if (exchange.after !== undefined) things.get(exchange.after);
  const [person = '', method = '', ...rest] = row.request.split(' ');
  if (person === 'operator') {
    if (!operator) throw new NotAllowed('it needs the operator’s tool: give --admin');
    const body = await operator(...things.fill([method, ...rest]));
    keep({ status: 200, headers: new Headers(), body }, exchange.keep, things);
    return undefined;
  }
  if (!canWrite && person !== 'visitor' && method !== 'GET') {
    throw new NotAllowed('it writes: give --write');
  }
  const giveUp = Date.now() + longestLag;
  for (;;) {
    const answer = await client.ask(row.request, exchange);
    things.set('reached', 'yes');
    witness(row.request, answer);
    keep(answer, exchange.keep, things);
    const why = faultIn(answer, row, exchange);
    if (why === undefined || !exchange.eventually || Date.now() > giveUp) return why;
    await wait(200);
  }
}

/** Keeps values of an answer for later rows. */
function keep({ headers, body }: Answer, names: Row['exchange']['keep'], things: Things): void {
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
  { request }: Row,
  exchange: Row['exchange'],
): string | undefined {
  const statuses = Object.keys(exchange).filter((field) => /^\d+$/.test(field));
  if (!statuses.includes(`${status}`)) {
    const wanted = statuses.join(' or ');
    return `expected status ${wanted}, got ${status}: ${JSON.stringify(body).slice(0, 200)}`;
  }
  const wanted = exchange[status];
  const expected: Expected =
    typeof wanted === 'string' && status >= 400 ? { error: wanted, description: sentence } : wanted;
  const isJson = !/ (HEAD|APPROVE|REFUSE) |\{auth\}/.test(request) && status !== 204 && status !== 304;
  const type = isJson ? { 'content-type': /^application\/json\b/ } : {};
  const wantedHeaders = Object.entries<Expected>({ ...type, ...exchange.has });
  return (
    (expected === undefined ? undefined : faultOf(body, expected)) ??
    wantedHeaders
      .map(([name, each]) => faultOf(headers.get(name) ?? undefined, each, name))
      .find((fault) => fault !== undefined)
  );
}
