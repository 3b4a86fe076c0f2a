import { collect, queryIndex } from '../table/query.ts';

/** Returns the milliseconds that the oldest open case has waited, or undefined if none is open. */
export async function oldestCaseAge(): Promise<number | undefined> {
  const [oldest] = await collect(queryIndex('all-by-date', 'CASE', { pageSize: 1 }), 1);
  // The time at which it was opened, and the id of the review.
  const [opened] = oldest?.date?.split('#') ?? [];
  return opened === undefined ? undefined : Date.now() - Date.parse(opened);
}
