import * as v from 'valibot';
import { oneOf, StoredTime, Text, Uuid } from '../../shared/base/values.ts';
import { SeenVersion } from '../../shared/core/entity/record.ts';
import { EntityPath } from '../../shared/core/http/request.ts';
import { ReviewedType } from '../../shared/core/review/review.ts';
import {
  moderationUrl,
  requireModerator,
  thingPage,
} from '../../shared/features/moderation/public.ts';
import { acceptProposal, declineProposal } from '../../shared/features/names/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({
  path: EntityPath,
  query: v.object({ entity_type: ReviewedType }),
  body: v.object({
    decision: oneOf(['accept', 'decline']),
    user_id: Uuid,
    proposed_at: StoredTime,
    /** Version of the record that the moderator has seen, empty if there was none. */
    seen: SeenVersion,
    note: v.optional(Text(0, 500), ''),
  }),
});

/** Accepts or declines a proposed name. */
export const handler = page(
  request,
  async ({ caller, path, query, body }, { visitor }) => {
    requireModerator(visitor);
    const { decision, user_id, proposed_at, seen, note } = body;
    const decide = decision === 'accept' ? acceptProposal : declineProposal;
    const by = { reason: 'other', note, moderator_id: caller.user_id } as const;
    await decide({ ...path, ...query }, user_id, by, { proposed_at, version: seen });
    return { location: moderationUrl(), notice: `name-${decision}` };
  },
  ({ path, query }, filled, { visitor }) => thingPage({ ...path, ...query }, visitor, { filled }),
);
