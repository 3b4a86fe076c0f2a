import {
  beginTask,
  Decision,
  FilePath,
  filePage,
  filesUrl,
  findOwnFile,
} from '../../shared/features/bring/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

/** Brings the reviews of a file, deletes them again, or continues what has stopped. */
export const handler = page(
  signedIn({ path: FilePath, body: Decision }),
  async ({ caller: { user_id }, path: { slot }, body }) => {
    await beginTask(user_id, slot, body);
    return { location: filesUrl(slot), notice: `file-${body.decision}` };
  },
  async ({ caller, path }, filled, { visitor }) =>
    filePage(await findOwnFile(caller.user_id, path.slot), visitor, 0, filled),
);
