import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Command, InvalidArgumentError, Option } from 'commander';
import * as v from 'valibot';
import { connect } from '../../infra/local/connect.ts';
import { printField, printJson, printTables } from './print.ts';

/** Options that every command accepts, before or after its name. */
export interface GlobalOptions {
  dataDir: string;
  stack?: string;
  tables?: boolean;
  only?: string;
}

/** A required option. Its help says so. */
export class Required extends Option {
  constructor(flags: string, description: string, parse: (value: string) => unknown) {
    super(flags, `${description} (required)`);
    this.argParser(parse);
  }
}

/** Returns a parser for an option or argument that validates by a schema. */
export function as<T>(schema: v.GenericSchema<string, T>): (value: string) => T {
  return (value) => {
    const result = v.safeParse(schema, value, { abortEarly: true });
    if (result.success) return result.output;
    throw new InvalidArgumentError(`It ${result.issues[0].message}.`);
  };
}

export const Count = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,8}$/, 'must be a whole number from 1 to 999999999'),
  v.transform(Number),
);

/**
 * Returns an action that connects to the stack, runs `action` and prints its result. A development
 * action refuses a stack on AWS that is not of the development environment.
 */
export function answer<A extends unknown[]>(
  action: (...args: A) => Promise<object>,
  { isForDevelopment = false } = {},
) {
  return async function (this: Command, ...args: A): Promise<void> {
    await connectTo(this, isForDevelopment);
    await show(this, await action(...args));
  };
}

/**
 * Sets the environment variables that shared/ reads to those of the stack that the options name.
 */
export async function connectTo(command: Command, isForDevelopment = false): Promise<void> {
  const { stack, dataDir } = command.optsWithGlobals<GlobalOptions>();
  if (stack === undefined) {
    connect(dataDir);
    return;
  }
  const aws = await import('../../infra/aws/connect.ts');
  const { environment } = await aws.connect(stack);
  if (isForDevelopment && environment !== 'development') {
    throw new Error(
      `the stack ${stack} was not deployed with environment=development; this command works in development only`,
    );
  }
}

export async function show(command: Command, value: object): Promise<void> {
  const { tables = false, only } = command.optsWithGlobals<GlobalOptions>();
  const { writeOut: write = () => {} } = command.configureOutput();
  if (only !== undefined) await printField(value, only, write);
  else if (tables) await printTables(value, write);
  else await printJson(value, write);
}

/** Asks for confirmation of an irreversible action, unless `--yes` is given. */
export async function confirm(command: Command, question: string): Promise<void> {
  if (command.opts().yes) return;
  if (!process.stdin.isTTY) {
    command.error(
      `error: option '--yes' is required when the input is not a terminal: ${question}`,
    );
  }
  const terminal = createInterface({ input: process.stdin });
  process.stderr.write(`${question} [y/N] `);
  const [said = ''] = await Promise.race([once(terminal, 'line'), once(terminal, 'close')]);
  terminal.close();
  if (!/^y(es)?$/i.test(said.trim())) throw new Error('nothing was changed');
}

export function explain(error: unknown, command: Command): string {
  if (!(error instanceof Error)) return `${error}`;
  const { stack, dataDir } = command.opts<GlobalOptions>();
  const { code, name } = error as NodeJS.ErrnoException;
  if (stack === undefined && (code === 'ECONNREFUSED' || name === 'TimeoutError')) {
    return `the database of the stack on the data folder ${dataDir} does not answer: stop the stack if it still runs, then start it again with npm start`;
  }
  if (name === 'ResourceNotFoundException') {
    return `there is no table ${process.env.TABLE_NAME}: check its name, the region and the account`;
  }
  return error.message || name;
}
