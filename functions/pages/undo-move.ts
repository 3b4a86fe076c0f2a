import * as v from 'valibot';
import { partsOf, readRequest, requireHttps } from '../../shared/core/http/read-request.ts';
import { undoMove, undonePage } from '../../shared/features/account/public.ts';
import { readUndo, tooLate } from '../../shared/features/notices/public.ts';
import { browserHandler } from '../../shared/pages/frame/error-page.ts';
import { respond } from '../../shared/pages/frame/html-response.ts';

export const request = v.object({ path: v.object({ move: v.string() }) });

/** Undoes the move of an account. The link is the only proof: its person has no session. */
export const handler = browserHandler(async (event) => {
  requireHttps(event);
  const { path } = readRequest(request, partsOf(event));
  const { user_id, from } = await readUndo(path.move);
  if ((await undoMove(user_id, from)) === 'over') throw tooLate();
  return respond(undonePage());
});
