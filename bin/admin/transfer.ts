import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { databaseEnvironment } from '../../infra/local/database.ts';
import { tableName } from '../../shared/table/client.ts';
import { exportAll, exportPublic } from '../export.ts';
import { importDump, importExport } from '../import.ts';
import { connectTo, show } from './command.ts';

interface ExportOptions {
  public?: boolean;
  out: string;
  table?: string;
}

/** What moves a whole service in and out. */
export function addTransferCommands(admin: Command): void {
  admin
    .command('export')
    .summary('writes all data to a file, or what is public to a folder')
    .description(
      'writes all data as JSON Lines, or with --public a folder of what everybody may have: users, reviews by licence, and checksums',
    )
    .option('--public', 'only what is public, without accounts, drafts, hidden reviews and reports')
    .option(
      '--out <file>',
      'where to; compressed where it ends in .gz, - is stdout, a new folder with --public',
      '-',
    )
    .option(
      '--table <name>',
      "another table than the stack's, such as a restored one: beside that of --stack, or at the DynamoDB that DYNAMODB_ENDPOINT names",
    )
    .addHelpText(
      'after',
      `
An export that was interrupted goes on when it is called again: <file>.part has
what was read. The same data makes the same file, byte for byte.

  npm run admin -- --stack review-service export --out everything.jsonl.gz
  npm run admin -- --stack review-service export --table restored --out restored.jsonl.gz
  npm run admin -- export --public --out dump-2026-11
  npm run -s admin -- export | jq -c 'select(.kind == "review")'`,
    )
    .action(async (options: ExportOptions, command: Command) => {
      const { public: isPublic = false, out, table } = options;
      if (isPublic && out === '-') {
        command.error("error: '--public' writes several files: name a new folder with '--out'");
      }
      const { stack, dataDir } = command.optsWithGlobals<{ stack?: string; dataDir: string }>();
      const { DYNAMODB_ENDPOINT: endpoint } = process.env;
      if (table === undefined || stack !== undefined || !endpoint) await connectTo(command);
      else Object.assign(process.env, databaseEnvironment(endpoint, table));
      if (table !== undefined) process.env.TABLE_NAME = table;
      const source = `${stack ?? resolve(dataDir)} ${tableName()}`;
      if (out === '-') console.error(JSON.stringify(await exportAll(out, source)));
      else await show(command, await (isPublic ? exportPublic : exportAll)(out, source));
    });

  admin
    .command('import')
    .summary('writes the data of an export, or of another service, to the table')
    .description(
      'writes what is not there yet, with ids, times, revisions and votes, and counts it; what is there stays as it is',
    )
    .argument('<file...>', 'an export, compressed or not; - is stdin. Of a dump, its archives')
    .addOption(
      new Option('--format <format>', 'what the files are')
        .choices(['export', 'critiquebrainz'])
        .default('export'),
    )
    .option('--dry-run', 'writes nothing, and says what would be written')
    .addHelpText(
      'after',
      `
It may be interrupted and called again, beside traffic too. A line that cannot be
written is told on stderr by its number, and the others go on: exit status 1.

  npm run admin -- --stack review-service import everything.jsonl.gz
  npm run admin -- import --dry-run everything.jsonl.gz
  npm run admin -- import --format critiquebrainz cbdump.tar.bz2 cbdump-reviews-all.tar.bz2`,
    )
    .action(
      async (
        files: string[],
        { format, dryRun = false }: { format: string; dryRun?: boolean },
        command: Command,
      ) => {
        const [file = ''] = files;
        if (format === 'export' && files.length > 1) {
          command.error('error: one export can be imported at a time');
        }
        await connectTo(command);
        const done = await (format === 'export'
          ? importExport(file, dryRun)
          : importDump(files, dryRun));
        await show(command, { is_dry_run: dryRun, ...done });
      },
    );
}
