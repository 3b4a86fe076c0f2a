import type { Route, Within } from '../routes.ts';

// The Lambdas that run at a time of day, or every minute.

/** A Lambda that runs daily at a time in UTC, or every minute. */
export interface Schedule {
  operation: string;
  /** A failed daily job is repeated. The next minute repeats the other kind. */
  runs: 'every minute' | { hour: number; minute: number };
  /** Rights on the table and secrets, as those of a route. */
  table: Route['table'];
  within?: Within;
  asks?: Route['asks'];
  secrets?: Route['secrets'];
  /** Seconds that a run may take, 15 unless given. Below a minute, unless runs may overlap. */
  timeout?: number;
  /**
   * Seconds between two looks on a server, where a look costs nothing. The job gets `look: true`
   * then, and always `lookEvery`, for looks of its own while it runs. It runs again at once if it
   * returns `hasMore: true`. It has no further looks until something is written if it returns
   * `isQuiet: true`.
   */
  lookEvery?: number;
  /** True if it runs only where the service sends mails, which MAIL_FROM says. */
  isForMails?: true;
}
