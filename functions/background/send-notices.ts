import { notingColdStart } from '../../shared/core/http/cold-start.ts';
import { sendNotices } from '../../shared/features/notices/public.ts';

/** Sends the mails that are due. A server calls it with `look`. */
export const handler = notingColdStart(({ look }: { look?: boolean } = {}) =>
  sendNotices({ isShort: look !== undefined }),
);
