import * as v from 'valibot';
import { EntityTypeIn } from '../../shared/core/entity/entity-type.ts';
import { reviewableTypes } from '../../shared/core/entity/reviewable-types.ts';
import { refuseBlocked } from '../../shared/core/user/writer.ts';
import {
  filesPage,
  filesUrl,
  readSentTable,
  takeFile,
} from '../../shared/features/bring/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

const request = signedIn({
  body: v.object({
    file: v.string(),
    entity_type: v.optional(v.union([v.literal(''), EntityTypeIn(reviewableTypes)]), ''),
  }),
});

/** Takes a file of reviews that another site has exported. */
export const handler = page(
  request,
  async ({ caller: { user_id }, body: { file, entity_type } }, { visitor }) => {
    refuseBlocked(visitor.user);
    const table = await readSentTable(file, entity_type || undefined);
    return { location: filesUrl(await takeFile(user_id, table)), notice: 'file-taken' };
  },
  (_, filled, { visitor }) => filesPage(visitor, filled),
  { hasFile: true },
);
