import * as v from 'valibot';
import { IntegerParameter } from '../../shared/core/http/request.ts';
import { FilePath, filePage, findOwnFile } from '../../shared/features/bring/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

const request = signedIn({
  path: FilePath,
  query: v.object({
    /** Part of the rows where the list of those left out begins. */
    from: v.optional(IntegerParameter(0, 9999), '0'),
  }),
});

/** Shows a file of reviews: what was found, how far it is, and what became of it. */
export const handler = page(request, async ({ caller, path, query }, { visitor }) => {
  const file = await findOwnFile(caller.user_id, path.slot);
  return filePage(file, visitor, query.from);
});
