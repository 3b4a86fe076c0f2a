import * as v from 'valibot';
import { readChanges } from '../shared/changes/feed.ts';
import { ChangePage } from '../shared/changes/presented.ts';
import type { Docs } from '../shared/http/docs.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { IntegerParameter } from '../shared/http/request.ts';

export const request = v.object({
  query: v.object({
    since: v.optional(v.string()),
    limit: v.optional(IntegerParameter(1, 100), '50'),
  }),
});

export const response = ChangePage;

export const docs = {
  tag: 'Reviews',
  summary: 'Follow what changes',
  description:
    'For mirrors of the public data. Begin with a public dump and the position in its file `POSITION`, or without `since` at what is there now, and apply what comes: put a review in the place of what you have of it, and take away one that is `null`. A review comes once on a page, however often it was changed. The same change may be told again on a later page: `version` rises with every change of a review, so skip what is not above the version that you have. `users` has the authors of these reviews, whose names and karma take the place of earlier ones. Times are ISO 8601, as in a dump. Follow `next` while `has_more`, also from a page without changes, then ask again from time to time.',
  fields: {
    since:
      'A position: `next` of an answer, or that of a dump. It is good for 30 days; without it, there are no changes and `next` is the position of now',
  },
  errors: {
    gone: 'The position is more than 30 days old, or of a table that was restored since: start again from a dump.',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, ({ query: { since, limit } }) =>
  readChanges(since, limit),
);
