import * as v from 'valibot';
import { bodyOf } from '../../shared/http/request.ts';
import { decideProposal, undoCorrection } from '../../shared/moderation/correction.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { moderationUrl, requireModerator } from '../../shared/pages/moderation/moderation.ts';
import { proposalsPage } from '../../shared/pages/moderation/proposals-page.ts';
import { ReviewedType } from '../../shared/review/review.ts';
import { oneOf, StoredTime, Text, Uuid } from '../../shared/values.ts';

const note = v.optional(Text(0, 500), '');

export const request = signedIn({
  body: v.union([
    bodyOf({ decision: v.literal('undo'), id: Uuid, note }),
    bodyOf({
      decision: oneOf(['accept', 'decline']),
      entity_id: Uuid,
      entity_type: ReviewedType,
      user_id: Uuid,
      proposed_at: StoredTime,
      /** Version of the record that the moderator has seen, empty if there was none. */
      seen: v.pipe(v.string(), v.regex(/^\d{0,15}$/, 'must be a number')),
      note,
    }),
  ]),
});

/** Accepts or declines a proposed name, or undoes a correction of the log. */
export const handler = page(
  request,
  async ({ caller, body }, { visitor }) => {
    requireModerator(visitor);
    const by = { reason: 'other', note: body.note, moderator_id: caller.user_id } as const;
    if (body.decision === 'undo') {
      await undoCorrection(body.id, by);
      return { location: moderationUrl('/log'), notice: 'name-undo' };
    }
    const { decision, user_id, proposed_at, seen, entity_id, entity_type } = body;
    const version = seen === '' ? undefined : Number(seen);
    const proposal = { proposed_at, version };
    await decideProposal({ entity_id, entity_type }, user_id, decision, by, proposal);
    return { location: moderationUrl('/names'), notice: `name-${decision}` };
  },
  (_, filled, { visitor }) => proposalsPage(visitor, {}, filled),
);
