import * as v from 'valibot';
import { readOwnData } from '../shared/account/export.ts';
import { OwnData } from '../shared/account/presented.ts';
import type { Docs } from '../shared/http/docs.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { Caller } from '../shared/http/request.ts';
import { Answer } from '../shared/http/response.ts';

export const request = v.object({
  caller: Caller,
  query: v.object({ cursor: v.optional(v.string()) }),
});

export const response = OwnData;

export const docs = {
  tag: 'Own account',
  summary: 'Export your data',
  description:
    'Everything that is stored about the user, as it is stored, with times in ISO 8601: profile, applications, connections, personal access tokens, reviews with all revisions, drafts and hidden ones, what moderators decided on them, hidden ones that the user has deleted, votes and reports. Most accounts are one part; a large one goes on at `next`, and the lists of its parts are joined. A vote that is cast again meanwhile may be there twice: the later one counts. Left out are secrets, what lives for a day at most (authorization codes, and answers kept for an `Idempotency-Key`), and what a moderator has decided on others.',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ caller, query }) => {
  const part = await readOwnData(caller.user_id, query.cursor);
  const link = part.next && `<?${new URLSearchParams({ cursor: part.next })}>; rel="next"`;
  return new Answer(part, { headers: { ...(link && { Link: link }) } });
});
