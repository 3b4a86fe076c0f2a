import { resolve } from 'node:path';
import { Option } from 'commander';
import { databaseEnvironment } from '../../infra/local/storage/dynamodb.ts';
import { tableName } from '../../shared/base/table/client.ts';
import { storage } from '../../shared/base/table/storage.ts';
import { exportAll, exportPublic } from '../export.ts';
import { importDump, importExport } from '../import.ts';
import { type Counts, estimateImport, tableWriteUnits } from '../import-estimate.ts';
import type { AdminCommand, GlobalOptions } from './command.ts';

interface ImportOptions {
  format: string;
  dryRun?: boolean;
}
type ExportOptions = GlobalOptions & { public?: boolean; out: string; table?: string };

export function addTransferCommands(admin: AdminCommand): void {
  admin
    .command('export')
    .summary('writes all data to a file, or the public data to a folder')
    .description(
      'writes all data as JSON Lines. With --public, writes a folder with the public data: users, reviews by licence, and checksums',
    )
    .option('--public', 'only public data, without accounts, drafts, hidden reviews and reports')
    .option(
      '--out <file>',
      'the file to write, compressed if it ends in .gz; - is stdout. With --public, a new folder',
      '-',
    )
    .option(
      '--table <name>',
      "a table other than the stack's, for example a restored table; in the account of --stack, or at DYNAMODB_ENDPOINT",
    )
    .addHelpText(
      'after',
      `
To continue an interrupted export, run the same command again: <file>.part contains
what was read so far. The same data gives the same file, byte for byte.

  npm run admin -- --stack review-service export --out everything.jsonl.gz
  npm run admin -- --stack review-service export --table restored --out restored.jsonl.gz
  npm run admin -- export --public --out dump-2026-11
  npm run -s admin -- export | jq -c 'select(.kind == "review")'`,
    )
    .action(async (_: object, command: AdminCommand) => {
      const options = command.optsWithGlobals<ExportOptions>();
      const { public: isPublic = false, out, table, stack, dataDir } = options;
      if (isPublic && out === '-') {
        command.error("error: '--public' writes several files: name a new folder with '--out'");
      }
      const { DYNAMODB_ENDPOINT: endpoint } = process.env;
      if (table === undefined || stack !== undefined || !endpoint) await command.connect();
      else Object.assign(process.env, databaseEnvironment(endpoint, table));
      if (table !== undefined && storage()) {
        throw new Error(
          `the data folder ${dataDir} has one table: --table is for a DynamoDB, so give --stack as well, or set DYNAMODB_ENDPOINT`,
        );
      }
      if (table !== undefined) process.env.TABLE_NAME = table;
      const source = `${stack ?? resolve(dataDir)} ${tableName()}`;
      if (out === '-') console.error(JSON.stringify(await exportAll(out, source)));
      else await command.print(await (isPublic ? exportPublic : exportAll)(out, source));
    });

  admin
    .command('import')
    .summary('writes the data of an export or of another service to the table')
    .description(
      'writes records that the table does not have, with ids, times, revisions and votes, and updates the counts. Existing records stay as they are',
    )
    .argument('<file...>', 'an export, compressed or not; - is stdin. For a dump, its archives')
    .addOption(
      new Option('--format <format>', 'the format of the files')
        .choices(['export', 'critiquebrainz'])
        .default('export'),
    )
    .option('--dry-run', 'writes nothing; reports what would be written')
    .addHelpText(
      'after',
      `
You can interrupt an import and run it again, even while the service has traffic. A line
that cannot be written is reported on stderr by its number. The import continues with
the next line, and ends with exit status 1.

  npm run admin -- --stack review-service import everything.jsonl.gz
  npm run admin -- import --dry-run everything.jsonl.gz
  npm run admin -- import --format critiquebrainz cbdump.tar.bz2 cbdump-reviews-all.tar.bz2`,
    )
    .hook('preAction', (command) => {
      if (command.opts().format === 'export' && command.args.length > 1) {
        command.error('error: give one export at a time');
      }
    })
    .answer(async (files: string[], options: ImportOptions, command: AdminCommand) => {
      const { format, dryRun: isDryRun = false } = options;
      const { stack } = command.optsWithGlobals<GlobalOptions>();
      const onBegin = async (counts: Counts | undefined) => {
        if (stack !== undefined) await printEstimate(counts);
      };
      const run = { isDryRun, onBegin };
      const [file = ''] = files;
      const imported = format === 'export' ? importExport(file, run) : importDump(files, run);
      return { is_dry_run: isDryRun, ...(await imported) };
    });
}

/** Prints what an import into a stack takes and costs. */
async function printEstimate(counts: Counts | undefined) {
  if (!counts) {
    console.error('No estimate: the input does not say how much it contains');
    return;
  }
  const perSecond = await tableWriteUnits();
  const { minutes, dollars } = estimateImport(counts, perSecond);
  const { user = 0, review = 0, vote = 0 } = counts;
  console.error(
    `${user} accounts, ${review} reviews and ${vote} votes take at least ${minutes} minutes at ${perSecond} write units a second, and cost about $${dollars.toFixed(2)}`,
  );
}
