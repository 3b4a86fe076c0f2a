/** Commands as documents print them for the operator. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { program } from '../../bin/admin/program.ts';
import { root } from './service.ts';

/** Documents with commands for the operator. */
const documents = [
  '.github/docs/operate.md',
  'infra/local/README.md',
  'infra/aws/README.md',
  'infra/aws/first-deployment.md',
  'infra/aws/alarms.md',
];

/** A command with the place that prints it. */
interface Printed {
  place: string;
  command: string;
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');
/** Puts together what is continued on the next line. */
const joined = (text: string) => text.replaceAll(/\\\n\s*/g, '');
const words = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Returns the shell blocks of a document. */
export function shellBlocks(text: string): string[] {
  return [...text.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, block = '']) => block);
}

/** Returns the file of another system's members that the operator's guide explains. */
export function membersFile(): string {
  const [, file = ''] = /^```jsonl\n(.*?)^```$/ms.exec(read('.github/docs/operate.md')) ?? [];
  return file;
}

/** Returns the blocks that start the service. */
export function startBlocks(): Printed[] {
  return documents.flatMap((place) =>
    shellBlocks(read(place)).flatMap((command) =>
      /\bnpm start\b/.test(command) ? [{ place, command }] : [],
    ),
  );
}

/** Returns each command of blocks, of sentences and of the tool's help, in their order. */
export function printedCommands(): Printed[] {
  const ofDocuments = documents.flatMap((place) => {
    const text = read(place);
    const blocks = shellBlocks(text).filter(
      (block) => !block.includes('#!') && !/\(\) \{/.test(block),
    );
    const lines = blocks.flatMap((block) => joined(block).split('\n'));
    const inline = [...text.matchAll(/`((?:npm run|reviews-admin)\s[^`]+)`/g)].map(
      ([, code]) => code,
    );
    const timed = [...text.matchAll(/^\d[\d *]+root (\S*\/reviews-admin .*)$/gm)].map(
      // In a crontab, a percent sign is escaped.
      ([, code = '']) => code.replaceAll('\\%', '%').replace(/^\S*\//, ''),
    );
    return [...lines, ...inline, ...timed].map((command = '') => ({
      place,
      command: words(command),
    }));
  });
  const ofHelp = helpOf(program()).flatMap((text) =>
    text.split('\n').map((line) => ({ place: '--help', command: words(line) })),
  );
  const isCommand = ({ command }: Printed) => /^(\w+=\S* )?[a-z][\w-]* /.test(command);
  return [
    ...ofDocuments.filter(isCommand),
    ...ofHelp.filter(({ command }) => /^(\w+=\S* )?npm run /.test(command)),
  ];
}

function helpOf(command: Command): string[] {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return [text, ...command.commands.flatMap(helpOf)];
}
