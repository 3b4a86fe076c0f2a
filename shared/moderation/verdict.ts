import * as v from 'valibot';
import { httpDate } from '../time.ts';

/** Why a review is reported or decided on, or an account blocked. A report may give another reason in words of its own. */
export const reasons = ['spam', 'abuse', 'off_topic', 'copyright', 'other'] as const;

/** A reason of that list. */
export type Reason = (typeof reasons)[number];

/** The reason that a report counts as. A report in words of its own counts as `other`. */
export function countedAs(report: { reason: string }): Reason {
  // The API has to say `Spam` where a report says nothing.
  return reasons.find((reason) => reason === report.reason.toLowerCase()) ?? 'other';
}

/** What can be decided on a review: a public one is hidden or its reports are dismissed, a hidden one is restored or that it is hidden is upheld. */
export const verdicts = ['hide', 'dismiss', 'restore', 'uphold'] as const;
export type Verdict = (typeof verdicts)[number];

/** The last decision on a review, as it lies on it and as its author reads it. */
export const Moderation = v.object({
  decision: v.picklist(verdicts),
  reason: v.picklist(reasons),
  note: v.string(),
  /** ISO 8601. */
  decided_at: v.string(),
});
export type Moderation = v.InferOutput<typeof Moderation>;

/** The last decision on a review as the API shows it to its author. */
export function presentModeration({ moderation }: { moderation?: Moderation }): Moderation | null {
  return moderation ? { ...moderation, decided_at: httpDate(moderation.decided_at) } : null;
}
