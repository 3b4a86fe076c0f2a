// Names as the API describes them.
import * as v from 'valibot';
import { AnyText, Fields, Id, IsoTime } from '../../base/described.ts';
import { PresentedEntityType } from '../../core/entity/presented.ts';

/** Lists of a person's own data, as the API describes them. */
export const ownSchemas = {
  proposed_names: v.array(
    Fields('A correction that the person proposed, until a moderator decides', {
      entity_id: Id('The entity', '8e8a594f-2175-38c7-a871-abb68ec363e7'),
      entity_type: PresentedEntityType,
      name: AnyText('The name', 'Blue Train'),
      about: v.optional(AnyText('The line that tells it apart', 'John Coltrane · 1957')),
      url: v.optional(AnyText('The address of a page about it', 'https://example.org/blue-train')),
      note: AnyText('A note for moderators', 'The year was wrong.'),
      proposed_at: IsoTime('The time'),
    }),
  ),
};
