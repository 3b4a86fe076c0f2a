import { makeClient, Unreachable } from './client.ts';
import { makeCaretaker } from './leave.ts';
import { makePeople, type Operator, people } from './people.ts';
import { count } from './report.ts';
import type { Section } from './row.ts';
import { namesIn, paceOf, type Result, tryRows } from './run.ts';
import { makeThings } from './things.ts';

/** A service to check, and who is there for it. */
interface Subject {
  /** The base URL. */
  base: string;
  /** Values of rows, as variables: `CONTRACT_BEN`. */
  environment: NodeJS.ProcessEnv;
  /** Access tokens of Ann and of Ben. */
  tokens?: readonly string[];
  /** Makes the people. Without it, the rows that need them are not tried. */
  operator?: Operator;
  /** Also says whether the service limits requests. */
  withPace?: boolean;
  /** Ends the run. What was written is deleted first. */
  signal?: AbortSignal;
  /** Sees each result at once. */
  show?: (result: Result) => void;
}

interface Check {
  results: Result[];
  /** People and things that could not be deleted. */
  left: string[];
  /** The reason why it did not come to its end. */
  stopped: string | undefined;
}

/** Tries the rows of these sections, and deletes what it has written. */
export async function check(sections: readonly Section[], subject: Subject): Promise<Check> {
  const { base, environment, tokens = [], operator, signal, show } = subject;
  const things = makeThings(base, environment);
  for (const [index, value] of tokens.entries()) {
    things.set(Object.keys(people)[index] ?? '', value);
  }
  const client = makeClient(things, operator);
  const { witness, leave } = makeCaretaker(client, things);
  const results: Result[] = [];
  const made = new Set<string>();
  let stopped: string | undefined;
  try {
    if (operator) {
      const names = new Set(sections.flatMap(({ rows }) => rows.flatMap(namesIn)));
      await makePeople(things, names, operator, made);
    }
    await signIn();
    for await (const result of tryRows(sections, { client, things, witness })) {
      show?.(result);
      results.push(result);
      if (isOther(results)) stopped = `${base} is not the base URL of a review service`;
      else if (signal?.aborted) stopped = 'interrupted';
      if (stopped !== undefined) break;
    }
  } catch (error) {
    stopped =
      error instanceof Unreachable
        ? `the service cannot be reached (${error.message})`
        : (error as Error).message;
  }
  if (stopped === undefined && subject.withPace) results.push(paceOf(client));
  return { results, left: await leave(made), stopped };

  /** Opens Ann's browser with cookies that are given, or at a provider that asks a name. */
  async function signIn(): Promise<void> {
    const { CONTRACT_COOKIE: cookie } = environment;
    const name = things.find('ann_name');
    if (cookie !== undefined) client.browser.adopt(cookie);
    else if (!name || !(await client.browser.signIn(things.get('auth'), name))) return;
    things.set('browser', 'signed in');
  }
}

/** Returns true if nothing has answered like the service yet, and enough was tried to say so. */
function isOther(results: readonly Result[]): boolean {
  const { holds, differs } = count(results);
  return holds === 0 && differs === 10;
}
