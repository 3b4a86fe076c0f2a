import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { Things } from './things.ts';

const run = promisify(execFile);

/** The people of the suite, with what they do in it. */
export const people = {
  ann: 'writes, and owns the application',
  ben: 'writes as well, and owns the other application',
  cleo: 'votes and reports until the limits of a day',
  dan: 'is blocked',
  eve: 'changes the profile, and deletes the account',
};

type Person = keyof typeof people;

/** Access tokens by their names: the owner, and the scopes. */
const tokens: Record<string, [owner: Person, scopes: string]> = {
  ann: ['ann', 'review,vote,user'],
  ann_none: ['ann', ''],
  ann_review: ['ann', 'review'],
  ann_vote: ['ann', 'vote'],
  ann_user: ['ann', 'user'],
  ben: ['ben', 'review,vote,user'],
  cleo: ['cleo', 'review,vote,user'],
  dan: ['dan', 'review,vote,user'],
  eve: ['eve', 'review,vote,user'],
};

/** Applications by their names: the owner, and more options of the tool. */
const applications: Record<string, [owner: Person, ...options: string[]]> = {
  client: ['ann'],
  other: ['ben'],
  open: ['ben', '--public'],
};

/** Grants by Ann: the application, and the seconds until its access token expires. */
const grants: Record<string, [application: string, seconds: number]> = {
  first: ['client', 3600],
  again: ['client', 3600],
  spent: ['client', 3600],
  narrow: ['client', 3600],
  ended: ['client', 3600],
  basic: ['client', 3600],
  brief: ['client', 1],
  third: ['other', 3600],
  page: ['open', 3600],
};

/** Returns true for the name of a person or of a thing they have: `ann`, `first_refresh`. */
export function isOfPeople(name: string): boolean {
  const owner = name.split('_')[0] ?? '';
  return name === 'redirect_uri' || [people, applications, grants].some((table) => owner in table);
}

type Answer = Record<string, string>;

/** Runs a command of the operator's tool, and returns its answer. Throws what the tool says. */
export type Operator = (...args: string[]) => Promise<Answer>;

/** Makes the operator of the tool that a shell command runs, such as `npm run -s admin --`. */
export function operatorBy(command: string): Operator {
  return async (...args) => {
    try {
      const { stdout } = await run('/bin/sh', ['-c', `${command} "$@"`, 'sh', ...args]);
      return JSON.parse(stdout);
    } catch (error) {
      const { stderr, message } = error as Error & { stderr?: string };
      throw new Error(stderr?.trim() || message);
    }
  };
}

/**
 * Makes those people, tokens, applications and grants that rows with these names need. Adds each
 * person whose account it has made to `made`.
 */
export async function makePeople(
  { get, set }: Things,
  names: ReadonlySet<string>,
  operator: Operator,
  made: Set<string>,
): Promise<void> {
  const mark = randomBytes(3).toString('hex');
  const isNeeded = (name: string) =>
    [...names].some((each) => each === name || each.startsWith(`${name}_`));
  const makeEach = <T>(table: Record<string, T>, make: (name: string, entry: T) => Promise<void>) =>
    inTurns(
      Object.entries(table).filter(([name]) => isNeeded(name)),
      ([name, entry]) => make(name, entry),
    );

  await makeEach(people, async (name) => {
    const display_name = `${name[0]?.toUpperCase()}${name.slice(1)} ${mark}`;
    const { id = '' } = await operator('user', 'create', '--name', display_name);
    made.add(name);
    set(`${name}_id`, id);
    set(`${name}_name`, display_name);
  });
  await makeEach(tokens, async (name, [owner, scopes]) => {
    const scope = scopes === '' ? [] : ['--scope', scopes];
    const options = ['--user', get(`${owner}_id`), '--name', 'Contract', ...scope];
    set(name, (await operator('token', 'create', ...options)).access_token ?? '');
  });
  set('redirect_uri', 'https://client.example/callback');
  await makeEach(applications, async (name, [owner, ...more]) => {
    const texts = ['--name', `Contract ${mark}`, '--desc', 'Checks the contract'];
    const urls = ['--website', 'https://client.example/', '--redirect-uri', get('redirect_uri')];
    const options = ['--owner', get(`${owner}_id`), ...texts, ...urls];
    const made = await operator('app', 'create', ...options, ...more);
    const { client_id = '', client_secret = '' } = made;
    set(`${name}_id`, client_id);
    set(`${name}_secret`, client_secret);
  });
  await makeEach(grants, async (name, [application, seconds]) => {
    const parties = ['--user', get('ann_id'), '--client', get(`${application}_id`)];
    const options = [...parties, '--scope', 'review,vote', '--expires-in', `${seconds}`];
    const { access_token = '', refresh_token = '' } = await operator('token', 'issue', ...options);
    set(`${name}_access`, access_token);
    set(`${name}_refresh`, refresh_token);
  });
}

/** Does this for each element, three at a time. */
async function inTurns<T>(elements: readonly T[], act: (element: T) => Promise<void>) {
  const waiting = elements.values();
  const work = async () => {
    for (const element of waiting) await act(element);
  };
  await Promise.all([work(), work(), work()]);
}
