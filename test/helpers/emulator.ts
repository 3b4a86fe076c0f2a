import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { freePort } from './listen.ts';

// An emulator of DynamoDB, for tests that are about DynamoDB itself.

const require = createRequire(import.meta.url);

export interface Emulator {
  endpoint: string;
  pid: number;
  stop(): Promise<void>;
}

/** Starts the emulator on a file, which it creates. It ends with this process. */
export async function startEmulator(file: string): Promise<Emulator> {
  const program = require.resolve('@dynoxide/linux-x64/dynoxide');
  const port = await freePort();
  const options = ['--host', '127.0.0.1', '--port', port, '--db-path', file];
  const emulator = spawn(program, ['serve', ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
  const kill = () => emulator.kill();
  process.once('exit', kill);
  const lines = createInterface({ input: emulator.stderr });
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close')]);
  if (!`${line}`.includes('listening on')) throw new Error(`the emulator did not start: ${line}`);
  indexRecords(file);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    pid: Number(emulator.pid),
    async stop() {
      process.off('exit', kill);
      const ended = once(emulator, 'exit');
      if (emulator.exitCode === null && emulator.signalCode === null && emulator.kill())
        await ended;
    },
  };
}

/** At every write the emulator asks for the highest number of all stream records. */
function indexRecords(file: string): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec(
    'CREATE INDEX IF NOT EXISTS by_number ON _stream_records (table_name, CAST(sequence_number AS INTEGER))',
  );
  database.close();
}

/** The form of a signature, which the emulator asks for and does not check. */
const unsigned = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
  'x-amz-date': '20260101T000000Z',
};

/** Leaves out signatures, which take a third of the CPU of a command here. */
export function skipSignatures({ middlewareStack }: DynamoDBDocumentClient): void {
  middlewareStack.remove('httpSigningMiddleware');
  middlewareStack.add(
    (next) => (args) => {
      Object.assign((args.request as { headers: object }).headers, unsigned);
      return next(args);
    },
    { name: 'skipSignature', step: 'finalizeRequest', priority: 'low', override: true },
  );
}
