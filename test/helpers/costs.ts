import type { Line } from '../../bin/bench/measure.ts';

/** Prices in US dollars: us-east-1, 2026, without a free tier. */
export const prices = {
  readUnits: 0.125e-6,
  writeUnits: 0.625e-6,
  apiRequest: 3.5e-6,
  lambdaCall: 0.2e-6,
  lambdaSecond: 0.0000133334,
  gigabyteOfLogs: 0.5,
  gigabyteOut: 0.09,
  /** CloudFront in North America and Europe, over HTTPS. Its traffic from the API is free. */
  cdnRequest: 1e-6,
  cdnGigabyteOut: 0.085,
  alarmMetric: 0.1,
  dashboard: 3,
  /** A metric of our own, in a month with values. */
  customMetric: 0.3,
  secret: 0.4,
  /** A gigabyte of the table for a month, with its backups. */
  gigabyteStored: 0.45,
  /** Somebody who signs in at the user pool in a month, beyond the first 10,000. */
  person: 0.015,
  /** A check of an address at AWS by Route 53, with HTTPS. A month. */
  healthCheck: 1.5,
};

/** Units that DynamoDB bills. */
export interface Units {
  read: number;
  write: number;
}

/** All billed use of one request. */
export interface Use extends Units {
  /** Duration of each Lambda call. */
  milliseconds: readonly number[];
  /** Sent to the client, compressed and with headers. */
  kilobytes: number;
  /** Sent to a client that asks for no compression. */
  plainKilobytes?: number;
}

/**
 * Request units by request. A list has as many authors as reviews. A vote and a new review include
 * the authorizer and the consumers of the stream, one change at a time. Measured by
 * `bench.slow.ts` with a table of 1,200 reviews of 1,500 characters. Times are assumed.
 */
export const costs = {
  'a review': { read: 2, write: 0, milliseconds: [10], kilobytes: 1.6 },
  'a list of 10': { read: 11, write: 0, milliseconds: [15], kilobytes: 7.4, plainKilobytes: 23.1 },
  'a list of 50': {
    read: 52,
    write: 0,
    milliseconds: [20],
    kilobytes: 29.6,
    plainKilobytes: 112.6,
  },
  'a vote': { read: 9.5, write: 58, milliseconds: [10, 20, 100], kilobytes: 0.6 },
  'a new review': { read: 11, write: 54, milliseconds: [10, 20, 100], kilobytes: 0.6 },
} as const satisfies Readonly<Record<string, Use>>;

/** A month of a large community, in millions: new reviews, votes, and reads of three kinds. */
export const community = {
  'a new review': 1,
  'a vote': 10,
  'a review': 70,
  'a list of 10': 20,
  'a list of 50': 10,
} as const;

/** The busiest second of a month, in multiples of the mean. */
export const busiest = 5;

/** Returns the requests of the community in its busiest second. */
export function perSecond(name: keyof typeof community): number {
  return (busiest * community[name] * 1e6) / (30 * 86_400);
}

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

/** The check from outside: its requests in a month, about twelve a minute. All is assumed. */
export const healthChecks = {
  requests: 500_000,
  read: 6,
  write: 0,
  milliseconds: [15],
  kilobytes: 0.6,
};

/** Bytes of a line of the access log, with 26 that CloudWatch adds. A test measures them. */
const lineOfLog = 400;

/** Returns the bill of a million requests in US dollars, by item. */
export function billOf({ read, write, milliseconds, kilobytes }: Use) {
  const seconds = milliseconds.reduce((sum, each) => sum + each, 0) / 1000;
  const bill = {
    dynamodb: read * prices.readUnits + write * prices.writeUnits,
    api: prices.apiRequest,
    lambda: milliseconds.length * prices.lambdaCall + seconds * prices.lambdaSecond,
    logs: (lineOfLog / 1e9) * prices.gigabyteOfLogs,
    transfer: (kilobytes / 1e6) * prices.gigabyteOut,
  };
  const total = Object.values(bill).reduce((sum, each) => sum + each, 0);
  return Object.fromEntries(
    Object.entries({ ...bill, total }).map(([name, of]) => [name, 1e6 * of]),
  ) as Record<keyof typeof bill | 'total', number>;
}

/**
 * Returns the bill of a million reads through CloudFront in US dollars. `hits` is the share of
 * reads that come from its cache.
 */
export function billBehindCdn(use: Use, hits: number) {
  const { total, transfer } = billOf(use);
  const api = (1 - hits) * (total - transfer);
  const requests = 1e6 * prices.cdnRequest;
  const out = use.kilobytes * prices.cdnGigabyteOut;
  return { api, requests, transfer: out, total: api + requests + out };
}

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
