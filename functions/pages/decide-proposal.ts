import * as v from 'valibot';
import { acceptProposal, declineProposal } from '../../shared/moderation/correction.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { moderationUrl, requireModerator } from '../../shared/pages/moderation/moderation.ts';
import { proposalsPage } from '../../shared/pages/moderation/proposals-page.ts';
import { ReviewedType } from '../../shared/review/review.ts';
import { oneOf, StoredTime, Text, Uuid } from '../../shared/values.ts';

export const request = signedIn({
  body: v.object({
    decision: oneOf(['accept', 'decline']),
    entity_id: Uuid,
    entity_type: ReviewedType,
    user_id: Uuid,
    proposed_at: StoredTime,
    /** Version of the record that the moderator has seen, empty if there was none. */
    seen: v.pipe(v.string(), v.regex(/^\d{0,15}$/, 'must be a number')),
    note: v.optional(Text(0, 500), ''),
  }),
});

/** Accepts or declines a proposed name. */
export const handler = page(
  request,
  async ({ caller, body }, { visitor }) => {
    requireModerator(visitor);
    const { decision, entity_id, entity_type, user_id, proposed_at, seen, note } = body;
    const decide = decision === 'accept' ? acceptProposal : declineProposal;
    const by = { reason: 'other', note, moderator_id: caller.user_id } as const;
    const version = seen === '' ? undefined : Number(seen);
    await decide({ entity_id, entity_type }, user_id, by, { proposed_at, version });
    return { location: moderationUrl('/names'), notice: `name-${decision}` };
  },
  (_, filled, { visitor }) => proposalsPage(visitor, {}, filled),
);
