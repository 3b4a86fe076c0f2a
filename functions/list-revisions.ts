import * as v from 'valibot';
import { type Docs, endpoint } from '../shared/http/endpoint.ts';
import { IntegerParameter, ReviewPath } from '../shared/http/request.ts';
import { Answer } from '../shared/http/response.ts';
import { getPublicReview } from '../shared/review/review-repository.ts';
import { presentRevision } from '../shared/review/revision.ts';
import { listRevisions } from '../shared/review/revision-repository.ts';

export { RevisionsResponse as response } from '../shared/review/presented.ts';
export const request = v.object({
  path: ReviewPath,
  query: v.object({ before: v.optional(IntegerParameter(1)) }),
});

export const docs = {
  tag: 'Reviews',
  summary: 'List the revisions of a review',
  description:
    'Newest first. If they exceed 6 MB (some hundred revisions), the answer has a `Link` to the rest.',
  headers: ['Link'],
  fields: { before: 'Only revisions with a lower `id`, as in the `Link` to the rest' },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ path, query }) => {
  const { review } = await getPublicReview(path.review_id);
  const revisions = await listRevisions(review, query);
  const oldest = revisions.at(-1)?.id ?? 1;
  return new Answer(
    { revisions: revisions.map(presentRevision) },
    { headers: { ...(oldest > 1 && { Link: `<?before=${oldest}>; rel="next"` }) } },
  );
});
