import * as v from 'valibot';
import { httpDate } from '../../base/time.ts';

// Reasons and decisions of moderators, as a review stores and shows them.

/** Reasons of a report, a decision or a block. A report may also give a free text. */
export const reasons = ['spam', 'abuse', 'off_topic', 'copyright', 'other'] as const;
export type Reason = (typeof reasons)[number];

/** Returns the reason that a report counts as: `other` for a free text. */
export function countedAs(report: { reason: string }): Reason {
  // The API has to say `Spam` where a report says nothing.
  return reasons.find((reason) => reason === report.reason.toLowerCase()) ?? 'other';
}

/**
 * Verdicts. On a public review: `hide` it, or `dismiss` the reports. On a hidden one: `restore` it,
 * or `uphold` the decision after an appeal. On a held one: `approve` it, or `hide` it. On an edit
 * that waits: `approve` or `refuse` the edit, or `hide` the review.
 */
export const verdicts = ['hide', 'dismiss', 'restore', 'uphold', 'approve', 'refuse'] as const;
export type Verdict = (typeof verdicts)[number];

/** States of a review by moderation: the last verdict, or `hold` until the first one. */
export const moderations = [...verdicts, 'hold'] as const;

/** The last decision on a review, as stored on it. Times are ISO 8601. */
export const Moderation = v.object({
  decision: v.picklist(moderations),
  reason: v.picklist(reasons),
  note: v.string(),
  decided_at: v.string(),
});
export type Moderation = v.InferOutput<typeof Moderation>;

/** The last decision on a review as the API shows it to its author. */
export function presentModeration({ moderation }: { moderation?: Moderation }): Moderation | null {
  return moderation ? { ...moderation, decided_at: httpDate(moderation.decided_at) } : null;
}
