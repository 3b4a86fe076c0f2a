import * as v from 'valibot';
import { popularityRank, rankStep } from '../../base/list/popularity-rank.ts';
import { pick } from '../../base/pick.ts';
import type { IndexAttributes, Key } from '../../base/table/item.ts';
import type { Update, Write } from '../../base/table/transact.ts';
import { caseKey, deskPartitions } from '../keys.ts';
import { countedAs, type Reason, reasons } from './verdict.ts';

// The moderation case of a review: its reports, and the writes that open, change and delete it.

/** Undecided reports of a review that its author deleted. They open the case of the next one. */
export const Carried = v.object({
  /** Time of the oldest case that they were reported in; ISO 8601. */
  opened_at: v.string(),
  ...v.entriesFromList(reasons, v.optional(v.number(), 0)),
});
export type Carried = v.InferOutput<typeof Carried>;

/** The moderation case of a review that was ever reported or decided on, as stored. */
export const Case = v.object({
  review_id: v.string(),
  /** The author of the review. */
  user_id: v.string(),
  /** An open case is in the queue. */
  state: v.picklist(['open', 'closed']),
  /** The number of decisions so far. */
  round: v.number(),
  /** Reports since the last decision, in all and by reason, with those of `carried`. */
  reports: v.number(),
  ...v.entriesFromList(reasons, v.optional(v.number(), 0)),
  /** Reports of the author's deleted reviews of the entity, until they are decided. */
  carried: v.optional(Carried),
  /** Time at which it last entered the queue; ISO 8601. */
  opened_at: v.string(),
  /** The statement of an appeal, which may be empty. Absent if reports opened the case. */
  appeal: v.optional(v.string()),
  /** Set while the review, or an edit of its text, is held because its author is new. */
  is_held: v.optional(v.boolean()),
  /** The last moderator to decide, or null for the operator. */
  decided_by: v.optional(v.nullable(v.string())),
  /** Rises by one with every write. */
  version: v.number(),
});
export type Case = v.InferOutput<typeof Case>;

/** Causes of an open case: a report, a review on hold, an edit that waits, or an appeal. */
export const caseOrigins = ['report', 'hold', 'edit', 'appeal'] as const;
export type CaseOrigin = (typeof caseOrigins)[number];

/** A spam report, as stored. Times are ISO 8601. */
export const Report = v.object({
  review_id: v.string(),
  /** The reporter. */
  user_id: v.string(),
  reason: v.string(),
  reported_at: v.string(),
  /** The number of decisions on the case before the report. */
  round: v.number(),
});
export type Report = v.InferOutput<typeof Report>;

/** The case of a review that was never reported. */
export function newCase(review: { id: string; user_id: string }): Case {
  return {
    review_id: review.id,
    user_id: review.user_id,
    state: 'closed',
    round: 0,
    ...countReports([]),
    opened_at: '',
    version: 0,
  };
}

/** Counts reports as a case does, with those that a deleted review has left. */
export function countReports(reports: readonly { reason: string }[], carried?: Carried) {
  const counts = reasons.map((reason) => {
    const count = reports.filter((report) => countedAs(report) === reason).length;
    return [reason, count + (carried?.[reason] ?? 0)];
  });
  return {
    reports: carriedReports(carried) + reports.length,
    ...(Object.fromEntries(counts) as Record<Reason, number>),
  };
}

/** Returns the number of reports that a deleted review has left. */
export function carriedReports(carried: Carried | undefined): number {
  if (!carried) return 0;
  return reasons.reduce((sum, reason) => sum + carried[reason], 0);
}

/** Returns the undecided reports of a case, or undefined if there are none. */
export function undecidedIn(moderationCase: Case): Carried | undefined {
  const { state, reports, opened_at } = moderationCase;
  if (state === 'closed' || reports === 0) return undefined;
  return { opened_at, ...pick(moderationCase, reasons) };
}

/** Opens the case of a review with the reports that an earlier one has left. */
export function openCarried(before: Case, carried: Carried): Write {
  return replaceCase(before, {
    ...before,
    ...countReports([], carried),
    state: 'open',
    opened_at: carried.opened_at,
    carried,
  });
}

/** Opens the case of a review that is held from `opened_at` on (ISO 8601), with carried reports. */
export function openHeld(before: Case, opened_at: string, carried?: Carried): Write {
  const held: Case = { ...before, is_held: true };
  if (carried) return openCarried(held, carried);
  return replaceCase(before, { ...held, state: 'open', opened_at });
}

/** Opens the case of a public review that nobody has reported, from `opened_at` on (ISO 8601). */
export function openUnreported(before: Case, opened_at: string): Write {
  return replaceCase(before, { ...before, state: 'open', opened_at });
}

/** Opens the case of a public review for a text that waits from `at` on (ISO 8601). */
export function openWaiting(before: Case, at: string): Write {
  const opened_at = before.state === 'open' ? before.opened_at : at;
  return replaceCase(before, { ...before, is_held: true, state: 'open', opened_at });
}

/** Closes the case of a text that waits no longer, unless the review has reports. */
export function closeWaiting(before: Case): Write {
  const state = before.reports > 0 ? 'open' : 'closed';
  return replaceCase(before, { ...before, is_held: undefined, state });
}

/**
 * Deletes the case of a review that is being deleted, on condition that it is unchanged. A report
 * that came meanwhile is thus never lost.
 */
export function deleteCase(reviewId: string, before: Case | undefined): Write {
  const Key = caseKey(reviewId);
  if (!before) return { ConditionCheck: { Key, was: { pk: undefined } } };
  return { Delete: { Key, was: { version: before.version } } };
}

/** The kind of an open case. What its author waits for comes before reports. */
export function caseKindOf({ appeal, is_held }: Case): 'appeal' | 'held' | 'report' {
  if (appeal !== undefined) return 'appeal';
  return is_held ? 'held' : 'report';
}

/** Lists an open case in the queue, by age and by the number of reports. */
export function queuedIn(moderationCase: Case): IndexAttributes {
  const { state, review_id, reports, opened_at } = moderationCase;
  if (state === 'closed') return {};
  return {
    all: deskPartitions[caseKindOf(moderationCase)],
    date: `${opened_at}#${review_id}`,
    popularity_rank: popularityRank(reports, opened_at, review_id),
  };
}

/** Writes a case on condition that it is unchanged since it was read as `before`. */
export function replaceCase(before: Case, after: Case): Write {
  const Item = {
    ...caseKey(after.review_id),
    ...queuedIn(after),
    ...after,
    version: before.version + 1,
  };
  const was = before.version === 0 ? { pk: undefined } : { version: before.version };
  return { Put: { Item, was } };
}

/** Counts a report. Concurrent reports all succeed, because the write depends on no number. */
export function countReport(before: Case, report: { reason: string }): Write {
  if (before.state === 'closed') {
    return replaceCase(before, {
      ...before,
      ...countReports([report]),
      state: 'open',
      opened_at: new Date().toISOString(),
    });
  }
  return { Update: oneMore(caseKey(before.review_id), before.round, report) };
}

/** Adds a report to a case on condition that the case is open in this round. */
export function oneMore(Key: Key, round: number, report: { reason: string }): Update {
  return {
    Key,
    amounts: { reports: 1, [countedAs(report)]: 1, popularity_rank: rankStep, version: 1 },
    was: { state: 'open', round },
  };
}
