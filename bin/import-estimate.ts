import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { table, tableName } from '../shared/base/table/client.ts';

/** Numbers of records by kind. */
export type Counts = Readonly<Record<string, number>>;

/** Units of a record: of an export with texts of 1.5 KB. Measured, see test/bench.slow.ts. */
const writeUnits: Counts = { user: 7, review: 20, vote: 5 };
/** Of any other record. */
const otherUnits = 4;
/** Read units of the checks of a record. */
const readUnits = 6;

/** Write units of the stream's consumer to count a review, in full batches. */
const countedByConsumer = 10;

/** US dollars in us-east-1, 2026. */
const price = { read: 0.125e-6, write: 0.625e-6 };

/** Duration of an import, at least, in minutes, and its price in US dollars. */
interface Estimate {
  minutes: number;
  dollars: number;
}

/**
 * Estimates an import into a stack on AWS, from the numbers of records in the file and the write
 * units that the table takes in a second.
 */
export function estimateImport(counts: Counts, perSecond: number): Estimate {
  const entries = Object.entries(counts);
  const { review: reviews = 0 } = counts;
  const records = entries.reduce((sum, [, count]) => sum + count, 0);
  const written = entries.reduce(
    (sum, [kind, count]) => sum + count * (writeUnits[kind] ?? otherUnits),
    0,
  );
  const units = written + reviews * countedByConsumer;
  return {
    minutes: Math.ceil(units / perSecond / 60),
    dollars: units * price.write + records * readUnits * price.read,
  };
}

/** Returns the write units that the table takes in a second without growing first. */
export async function tableWriteUnits(): Promise<number> {
  const { Table } = await table.send(new DescribeTableCommand({ TableName: tableName() }));
  return Table?.WarmThroughput?.WriteUnitsPerSecond ?? 4_000;
}
