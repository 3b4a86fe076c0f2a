import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { IntegerParameter, PathId, PathParameter } from '../../shared/core/http/request.ts';
import { getPublicReview } from '../../shared/core/review/read-reviews.ts';
import { presentRevision } from '../../shared/core/review/revision.ts';
import { getRevision } from '../../shared/core/review/revision-repository.ts';

export { RevisionResponse as response } from '../../shared/core/review/presented.ts';
export const request = v.object({
  path: v.object({
    review_id: PathId('Review'),
    rev: PathParameter('Revision', IntegerParameter(1, 999_999)),
  }),
});

export const docs = {
  tag: 'Reviews',
  summary: 'Read a revision',
  description:
    'Text and rating as they were, with the votes that were last cast meanwhile. The newest revision is what the review has now.',
  errors: { not_found: 'The review does not exist or is not public, or has no such revision.' },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ path }) => {
  const { review } = await getPublicReview(path.review_id);
  return { revision: presentRevision(await getRevision(review, path.rev)) };
});
