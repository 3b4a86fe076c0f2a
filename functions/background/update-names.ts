import { notingColdStart } from '../../shared/core/http/cold-start.ts';
import { updateNames } from '../../shared/features/names/public.ts';

/** Asks the databases for the names that are due. A server calls it with `look`. */
export const handler = notingColdStart(({ look }: { look?: boolean } = {}) =>
  updateNames({ isShort: look !== undefined }),
);
