import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { nextLink } from '../../shared/core/http/paged.ts';
import { IntegerParameter, ReviewPath } from '../../shared/core/http/request.ts';
import { Answer } from '../../shared/core/http/response.ts';
import { getPublicReview } from '../../shared/core/review/read-reviews.ts';
import { presentRevision } from '../../shared/core/review/revision.ts';
import { listRevisions } from '../../shared/core/review/revision-repository.ts';

export { RevisionsResponse as response } from '../../shared/core/review/presented.ts';
export const request = v.object({
  path: ReviewPath,
  query: v.object({ before: v.optional(IntegerParameter(1)) }),
});

export const docs = {
  tag: 'Reviews',
  summary: 'List the revisions of a review',
  description:
    'Newest first. An answer ends at 256 KB (12 of the longest texts). It then has a `Link` to the rest.',
  headers: ['Link'],
  fields: { before: 'Only revisions with a lower `id`, as in the `Link` to the rest' },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ path, query }) => {
  const { review } = await getPublicReview(path.review_id);
  const revisions = await listRevisions(review, query);
  const body = { revisions: revisions.map(presentRevision) };
  const oldest = revisions.at(-1)?.id ?? 1;
  if (oldest === 1) return body;
  return new Answer(body, { headers: { Link: nextLink({ before: oldest }) } });
});
