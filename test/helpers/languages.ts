import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './service.ts';

/** Programs of integrators in other languages, and the libraries that they use. */
const folder = join(root, 'test/languages');

/** Makes a language ready by its own tools, which download pinned versions. */
interface Language {
  /** The tool, and its arguments that show that it is there. */
  tool: readonly string[];
  prepare(): unknown;
  /** Returns the command that runs a program. */
  run(program: string, ...args: string[]): readonly string[];
}

const run = (command: string, args: readonly string[], path: string) =>
  execFileSync(command, args, { cwd: join(folder, path), stdio: 'pipe' });

const python = join(folder, 'python/.venv/bin/python');
const jars = join(folder, 'java/target/lib');

export type LanguageName = 'Go' | 'Java' | 'Python' | 'Rust';

export const languages: Readonly<Record<LanguageName, Language>> = {
  Go: {
    tool: ['go', 'version'],
    prepare: () => run('go', ['build', '-o', 'target/', './...'], 'go'),
    run: (program) => [join(folder, 'go/target', program)],
  },
  Java: {
    tool: ['mvn', '--version'],
    prepare: () => {
      const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
      run('mvn', ['--quiet', '--batch-mode', ...copy], 'java');
    },
    run: (program, ...args) => [
      'java',
      '-cp',
      `${jars}/*`,
      join(folder, 'java', `${program}.java`),
      ...args,
    ],
  },
  Python: {
    tool: ['python3', '-c', 'import venv, ensurepip'],
    prepare: () => {
      if (!existsSync(python)) run('python3', ['-m', 'venv', '.venv'], 'python');
      run(python, ['-m', 'pip', 'install', '--quiet', '-r', 'requirements.txt'], 'python');
    },
    run: (program, ...args) => [python, join(folder, 'python', `${program}.py`), ...args],
  },
  Rust: {
    tool: ['cargo', '--version'],
    prepare: () => run('cargo', ['build', '--quiet', '--locked'], 'rust'),
    run: (program) => [join(folder, 'rust/target/debug', program)],
  },
};

/** Returns true if the tool of a language is here. */
export function isThere(language: LanguageName): boolean {
  const [command = '', ...args] = languages[language].tool;
  return spawnSync(command, args).status === 0;
}

const running = new Set<ChildProcess>();
afterAll(() => {
  for (const program of running) program.kill();
});

/** Starts a program that takes lines, and answers each with a line. */
export function startProgram([command = '', ...args]: readonly string[], env: NodeJS.ProcessEnv) {
  const { PATH, HOME } = process.env;
  const program = spawn(command, args, { env: { PATH, HOME, LC_ALL: 'C.UTF-8', ...env } });
  running.add(program);
  program.on('exit', () => running.delete(program));
  let errors = '';
  program.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  return {
    send: (line: string) => program.stdin.write(`${line}\n`),
    /** Returns what follows this word on its line. Throws the errors of the program. */
    async read(word: string): Promise<string> {
      for (;;) {
        const { value = '', done } = await lines.next();
        if (done) throw new Error(`The program has ended before “${word}”:\n${errors}`);
        if (`${value}`.startsWith(`${word} `)) return `${value}`.slice(word.length + 1);
      }
    },
  };
}
