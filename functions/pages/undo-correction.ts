import * as v from 'valibot';
import { Text, Uuid } from '../../shared/base/values.ts';
import {
  logPage,
  moderationUrl,
  requireModerator,
} from '../../shared/features/moderation/public.ts';
import { undoChange } from '../../shared/features/names/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({
  body: v.object({ id: Uuid, note: v.optional(Text(0, 500), '') }),
});

/** Undoes a change of a record in the log of decisions. */
export const handler = page(
  request,
  async ({ caller, body: { id, note } }, { visitor }) => {
    requireModerator(visitor);
    await undoChange(id, { reason: 'other', note, moderator_id: caller.user_id });
    return { location: moderationUrl('/log'), notice: 'correction-undone' };
  },
  (_, filled, { visitor }) => logPage(visitor, {}, filled),
);
