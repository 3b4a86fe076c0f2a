const kilobyte = 1024;

/**
 * The most bytes that an item of each kind has, by the beginning of its sort key (keys.ts), in
 * DynamoDB's counting. Only a root of rank trees grows with the data, by 12 bytes in three weeks
 * for each content. An imported revision keeps a longer text, up to 390 KB.
 */
export const largestItems: Readonly<Record<string, number>> = {
  // 5,000 characters of four bytes, and 3,800 bytes of other fields, which imports check. Of a
  // longer text it has the beginning. Older code has stored the whole: `audit --repair` moves it.
  REVIEW: 24 * kilobyte,
  // An imported text, of 390,000 bytes in JSON.
  LONGTEXT: 390 * kilobyte,
  REVISION: 22 * kilobyte,
  WAITING: 22 * kilobyte,
  VOTE: kilobyte,
  // A reason, a statement or a note of 1,000 characters.
  REPORT: 5 * kilobyte,
  CASE: 5 * kilobyte,
  // Two records, of a correction.
  DECISION: 16 * kilobyte,
  USER: 2 * kilobyte,
  CONTACT: 4 * kilobyte,
  // 11 types, 183 languages and 11 contents. Deferred counts have as many of them.
  COUNTS: 5 * kilobyte,
  ENTITY: 4 * kilobyte,
  TOTAL: 4 * kilobyte,
  CLAIM: kilobyte,
  NAME: kilobyte,
  VOTES: kilobyte,
  GRANT: kilobyte,
  // Two URLs of 2,000 characters, and a description of 500.
  APP: 8 * kilobyte,
  // A URL, and the last 20 attempts.
  HOOK: 8 * kilobyte,
  RUN: kilobyte,
  CODE: 4 * kilobyte,
  // A URL, and a state of 2,048 bytes.
  REQUEST: 6 * kilobyte,
  // 200 hidden and 60 reported reviews of deleted accounts.
  IDENTITY: 64 * kilobyte,
  IDEMPOTENCY: kilobyte,
  // Three texts of 200 characters, and two URLs of 2,048. Ten of these items, without URLs.
  METADATA: 8 * kilobyte,
  // A reason of 500 characters, and three fields of a record.
  PROPOSAL: 8 * kilobyte,
  // 101 bytes of words, a type, an id and who named it: 20 in 4 KB.
  NAMED: 204,
  // Texts of 820 bytes, and numbers.
  THING: kilobyte,
  SEARCH: 32 * kilobyte,
  PACE: kilobyte,
  PROJECTION: kilobyte,
  // 20 changes.
  AT: 4 * kilobyte,
  LANE: kilobyte,
  EPOCH: kilobyte,
  DONE: kilobyte,
  IMPORT: kilobyte,
  REBUILD: kilobyte,
  // Nodes of rank trees, by their order.
  date: 8 * kilobyte,
  popularity: 8 * kilobyte,
  root: 64 * kilobyte,
};
