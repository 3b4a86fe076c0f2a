import type { Line } from '../../bin/bench/measure.ts';

/** Units that DynamoDB bills. */
interface Units {
  read: number;
  write: number;
}

/**
 * Request units by request, as the guide for AWS has them. A list has as many authors as reviews. A
 * vote and a new review include the authorizer and the consumers of the stream, one change at a
 * time. Measured by `bench.slow.ts` with a table of 1,200 reviews of 1,500 characters.
 */
export const costs = {
  'a review': { read: 2, write: 0 },
  'a list of 10': { read: 11, write: 0 },
  'a list of 50': { read: 52, write: 0 },
  'a vote': { read: 9.5, write: 58 },
  'a new review': { read: 11, write: 54 },
} as const satisfies Readonly<Record<string, Units>>;

/** Units with rank tree nodes grown to 4 KB, and roots to 8 KB. */
export const grownCosts: Readonly<Record<'a vote' | 'a new review', Units>> = {
  'a vote': { read: 9.5, write: 134 },
  'a new review': { read: 11, write: 106 },
};

/**
 * Units by the length of the text, with the authorizer and the consumers of the stream: 1,500
 * characters, and the longest text in the widest characters, of 20 KB.
 */
export const costsOfText = {
  'a vote': { usual: 58, longest: 94 },
  'a change of the stars': { usual: 36, longest: 108 },
} as const;

/** Write units of the stream’s consumers for each vote, by votes in a batch. Exact within one. */
export const foldedVotes = [
  { votes: 1, write: 32 },
  { votes: 2, write: 27 },
  { votes: 5, write: 24 },
] as const;

/** Write units of an import, without the consumers of the stream. A vote comes with its review. */
export const importCosts = { account: 7, review: 24, vote: 5 };

/** Adds up the units of a vote and of a new review from lines of the bench. */
export function unitsIn(lines: readonly Line[]): Record<'a vote' | 'a new review', Units> {
  const sum = (...names: string[]): Units => {
    const found = lines.filter(({ name }) => names.includes(name));
    return {
      read: found.reduce((total, { read }) => total + read, 0),
      write: found.reduce((total, { write }) => total + write, 0),
    };
  };
  return {
    'a vote': sum('authorizer', 'put-vote', 'update-aggregates (a vote)'),
    'a new review': sum('authorizer', 'create-review', 'update-aggregates (a publication)'),
  };
}
