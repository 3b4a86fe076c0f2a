import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { getPublicReview } from '../shared/review/review-repository.ts';
import { presentRevision } from '../shared/review/revision.ts';
import { listRevisions } from '../shared/review/revision-repository.ts';
import { Uuid } from '../shared/values.ts';

export const request = v.object({ path: v.object({ review_id: Uuid }) });

export const handler = endpoint(request, async ({ path }) => {
  const { review } = await getPublicReview(path.review_id);
  const revisions = await listRevisions(review);
  return { revisions: revisions.map(presentRevision) };
});
