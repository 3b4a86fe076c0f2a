import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Command, InvalidArgumentError, Option } from 'commander';
import * as v from 'valibot';
import { connect } from '../../infra/local/storage/connect.ts';
import { Matching } from '../../shared/base/values.ts';
import { printField, printJson, printTables } from './print.ts';

/** Options that every command accepts, before or after its name. */
export type GlobalOptions = { dataDir: string; stack?: string; tables?: boolean; only?: string };

export class AdminCommand extends Command {
  readonly #required: Option[] = [];

  override createCommand(name?: string) {
    return new AdminCommand(name);
  }

  /** Adds an option that must be given. Its help says so. */
  required(flags: string, description: string, schema: v.GenericSchema<string, unknown>) {
    const option = new Option(flags, `${description} (required)`).argParser(as(schema));
    this.#required.push(option);
    return this.addOption(option);
  }

  /**
   * Reports missing options. Commander's own check runs before the check for unknown options, and
   * would ask for an option that is only misspelt.
   */
  checkRequired(): void {
    const missing = this.#required
      .filter((option) => this.getOptionValue(option.attributeName()) === undefined)
      .map(({ flags }) => `'${flags}'`);
    if (missing.length === 0) return;
    const options = missing.length > 1 ? 'options' : 'option';
    this.error(`error: required ${options} ${missing.join(', ')} not specified`);
  }

  /** Sets an action that connects to the stack, runs `work` and prints its result. */
  answer<A extends unknown[]>(
    work: (...args: A) => Promise<object>,
    { isForDevelopment = false } = {},
  ) {
    return this.action(async (...args: A) => {
      await this.connect(isForDevelopment);
      await this.print(await work(...args));
    });
  }

  /** Sets the variables that shared/ reads to those of the stack that the options name. */
  async connect(isForDevelopment = false): Promise<void> {
    const { stack, dataDir } = this.optsWithGlobals<GlobalOptions>();
    if (stack === undefined) return connect(dataDir);
    const aws = await import('../../infra/aws/connect.ts');
    const { environment } = await aws.connect(stack);
    if (isForDevelopment && environment !== 'development') {
      throw new Error(
        `the stack ${stack} was not deployed with environment=development; this command works in development only`,
      );
    }
  }

  async print(value: object): Promise<void> {
    const { tables = false, only } = this.optsWithGlobals<GlobalOptions>();
    const { writeOut: write = () => {} } = this.configureOutput();
    if (only !== undefined) await printField(value, only, write);
    else await (tables ? printTables : printJson)(value, write);
  }

  /** Asks for confirmation of an irreversible action, unless `--yes` is given. */
  async confirm(question: string): Promise<void> {
    if (this.opts().yes) return;
    if (!process.stdin.isTTY) {
      this.error(`error: option '--yes' is required when the input is not a terminal: ${question}`);
    }
    const terminal = createInterface({ input: process.stdin });
    process.stderr.write(`${question} [y/N] `);
    const [said = ''] = await Promise.race([once(terminal, 'line'), once(terminal, 'close')]);
    terminal.close();
    if (!/^y(es)?$/i.test(said.trim())) throw new Error('nothing was changed');
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
  Matching(/^[1-9]\d{0,8}$/, 'must be a whole number from 1 to 999999999'),
  v.transform(Number),
);

/** Yields the presented items that contain a text in one of the fields, ignoring case. */
export async function* found<T, P extends object>(
  text: string,
  fields: readonly (keyof P)[],
  pages: AsyncIterable<readonly T[]> | readonly (readonly T[])[],
  present: (one: T) => P,
): AsyncGenerator<P> {
  const wanted = text.toLowerCase();
  for await (const page of pages) {
    yield* page
      .map(present)
      .filter((one) => fields.some((name) => `${one[name] ?? ''}`.toLowerCase().includes(wanted)));
  }
}
