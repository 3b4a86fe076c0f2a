import { notingColdStart } from '../../shared/http/cold-start.ts';
import { sendNotices } from '../../shared/notices/run.ts';

/** Sends the mails that are due. A server calls it with `look`. */
export const handler = notingColdStart(({ look }: { look?: boolean } = {}) =>
  sendNotices({ isShort: look !== undefined }),
);
