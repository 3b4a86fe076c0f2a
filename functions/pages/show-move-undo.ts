import * as v from 'valibot';
import { undoPage } from '../../shared/features/account/public.ts';
import { readUndo } from '../../shared/features/notices/public.ts';
import { page } from '../../shared/pages/form/page.ts';

export const request = v.object({ path: v.object({ move: v.string() }) });

/** Shows a button that undoes the move of an account. */
export const handler = page(request, async ({ path }) => {
  await readUndo(path.move);
  return undoPage();
});
