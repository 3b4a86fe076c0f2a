import * as v from 'valibot';
import type { Docs } from '../shared/http/docs.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { PathId } from '../shared/http/request.ts';
import { PresentedRevision } from '../shared/review/presented.ts';
import { getPublicReview } from '../shared/review/review-repository.ts';
import { presentRevision } from '../shared/review/revision.ts';
import { listRevisions } from '../shared/review/revision-repository.ts';

export const request = v.object({ path: v.object({ review_id: PathId('Review') }) });

export const response = /* @__PURE__ */ v.object({
  revisions: /* @__PURE__ */ v.array(PresentedRevision),
});

export const docs = {
  tag: 'Reviews',
  summary: 'List the revisions of a review',
  description: 'All of them, newest first.',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ path }) => {
  const { review } = await getPublicReview(path.review_id);
  const revisions = await listRevisions(review);
  return { revisions: revisions.map(presentRevision) };
});
