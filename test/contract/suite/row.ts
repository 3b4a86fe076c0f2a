import type { Expected } from './match.ts';

/**
 * The request of a row, and the answer that it must get. A name in braces, such as `{album}`,
 * stands for a value that another row has kept, or that the people of the suite have.
 */
export interface Exchange {
  json?: unknown;
  form?: Record<string, string> | string;
  /** A body as it is. */
  body?: string;
  headers?: Record<string, string>;
  /** By status: what the body must have. A string is the code of an error. Otherwise it is 200. */
  [status: number]: Expected;
  /** Expected headers of the answer. */
  has?: Record<string, Expected>;
  /** Values of the answer for later rows: a path such as `review.id`, or a header as `@etag`. */
  keep?: Record<string, string>;
  /** Repeats the request until it holds: lists and background work follow a change. */
  eventually?: true;
  /** A value of an earlier row, without which this row is not tried. */
  after?: string;
  /** Also part of the quick check of a running service. */
  quick?: true;
}

/** One statement of the contract. */
export interface Row {
  /** The source of the claim. A `given` row only prepares the rows after it. */
  source: 'specification' | 'decision' | 'given';
  claim: string;
  /** A person, a method and a path: `ann PUT /review/{album}/vote`. */
  request: string;
  exchange: Exchange;
  /** The reason why the suite cannot try it over HTTP. */
  untried?: string;
}

export interface Section {
  title: string;
  rows: readonly Row[];
}

/** Returns the statuses that an exchange may end with. */
export const statusesIn = (exchange: Exchange) =>
  Object.keys(exchange).filter((field) => /^\d+$/.test(field));

const rowOf =
  (source: Row['source']) =>
  (claim: string, request: string, exchange: Exchange = {}): Row => ({
    source,
    claim,
    request,
    exchange: statusesIn(exchange).length > 0 ? exchange : { 200: {}, ...exchange },
  });

/**
 * Stated by the specification. It leaves the bodies and headers of errors open, so what a row
 * expects of these counts as decided.
 */
export const spec = rowOf('specification');
/** Left open by the specification, and decided by this service. */
export const decided = rowOf('decision');
/** Stated or decided, but beyond what this suite can try. */
export const beyond = (source: Row['source'], claim: string, untried: string): Row => ({
  ...rowOf(source)(claim, '', {}),
  untried,
});
/** Prepares the rows after it. */
export const given = (request: string, exchange?: Exchange): Row =>
  rowOf('given')(request, request, exchange);
