import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { nextLink } from '../../shared/core/http/paged.ts';
import { Caller, CursorParameter } from '../../shared/core/http/request.ts';
import { Answer } from '../../shared/core/http/response.ts';
import { readOwnData } from '../../shared/features/account/public.ts';

export { OwnData as response } from '../../shared/features/account/public.ts';
export const request = v.object({
  caller: Caller,
  query: v.object({ cursor: CursorParameter() }),
});

export const docs = {
  tag: 'Own account',
  summary: 'Export your data',
  description:
    'All stored data about the user: profile, applications, connections, tokens, reviews with all revisions and decisions, votes and reports. It includes drafts and hidden reviews. Times are ISO 8601. A large account has several parts: follow `next`, and join the lists. A vote that changes meanwhile may appear twice: the later one counts. Secrets, data that lives for a day at most, and decisions on others are left out.',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ caller, query }) => {
  const part = await readOwnData(caller.user_id, query.cursor);
  if (!part.next) return new Answer(part);
  return new Answer(part, { headers: { Link: nextLink({ cursor: part.next }) } });
});
