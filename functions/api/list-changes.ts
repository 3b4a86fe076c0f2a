import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { CursorParameter, IntegerParameter } from '../../shared/core/http/request.ts';
import { readChanges } from '../../shared/features/changes/public.ts';

export { ChangePage as response } from '../../shared/features/changes/public.ts';
export const request = v.object({
  query: v.object({
    since: CursorParameter(),
    // The name in lists. A mirror that sends it would never learn of a change.
    cursor: v.optional(v.never('must be sent as since')),
    limit: v.optional(IntegerParameter(1, 100), '50'),
  }),
});

export const docs = {
  tag: 'Reviews',
  summary: 'Follow what changes',
  description:
    'For mirrors of the public data. Begin with a public dump and the cursor in its file `POSITION`, or without `since`. Replace your copy of a review, or delete it if `review` is `null`. Skip a version that is not above yours: changes are delivered at least once. If `earlier_revisions` is there, read the rest of the revisions from it. `users` has the authors of these reviews: replace their names and karma. Times are ISO 8601. A page ends at 512 KB. Follow `next` while `has_more` is true, then poll.',
  fields: {
    since:
      '`next` of an earlier answer, or the cursor of a dump. It is valid for 30 days. Without it there are no changes, and `next` is the cursor of now',
  },
  errors: {
    gone: 'The cursor is over 30 days old, or the table was restored since. Delete your copy, and start again.',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, ({ query: { since, limit } }) =>
  readChanges(since, limit),
);
