import * as v from 'valibot';
import {
  AnyText,
  Count,
  described,
  Fields,
  Id,
  IsoTime,
  LongCount,
  TextOrNull,
} from '../../base/described.ts';
import { pick } from '../../base/pick.ts';
import { entityTypes } from '../../core/entity/entity-type.ts';
import {
  EntityState,
  LeadsTo,
  Metadata,
  PresentedEntityType,
} from '../../core/entity/presented.ts';
import { PresentedLanguage, PresentedRevision } from '../../core/review/presented.ts';
import { writtenNames } from '../../core/review/written.ts';
import { PresentedUser } from '../../core/user/presented.ts';

const id = Id('The review', '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11');

/** Also the record of a dump. */
export const PublicRecord = Fields('A public review, as in a dump', {
  kind: described(v.literal('review'), 'The kind of the record', 'review'),
  id,
  entity_id: Id('The reviewed entity', '8e8a594f-2175-38c7-a871-abb68ec363e7'),
  entity_type: PresentedEntityType,
  user_id: Id('Its author', '9b0c7e2a-55a4-4f0e-8a83-6a6fd0f6d1a2'),
  language: PresentedLanguage,
  license: AnyText('The id of its licence', 'CC BY-SA 4.0'),
  created: IsoTime('When it was first saved'),
  published_on: IsoTime('When it was published'),
  source: TextOrNull('The source of an imported review', null),
  source_url: TextOrNull('Its address at the source', null),
  revisions: described(
    v.array(
      v.object({
        id: Count('Its number: the first is 1', 1),
        ...pick(PresentedRevision.entries, writtenNames),
        timestamp: IsoTime('When it was made'),
        votes_positive: Count('Upvotes that were last cast while it was current', 4),
        votes_negative: Count('Downvotes that were last cast while it was current', 1),
      }),
    ),
    'All revisions, oldest first. If they exceed 256 KB, the newest of them',
  ),
  earlier_revisions: v.optional(
    AnyText(
      'The path, after the base URL, of the revisions that were left out. Absent if there are none, and in a dump',
      '/review/2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11/revisions?before=13',
    ),
  ),
});
export type PublicRecord = v.InferOutput<typeof PublicRecord>;

/** The one thing that a change or message is about: an entity id alone may name two things. */
export const Subject = Fields('The one thing that this is about: its type and id together', {
  type: described(
    v.picklist(['review', ...entityTypes]),
    '`review`, or the type of the entity',
    'review',
  ),
  id: Id('Its id', '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11'),
});
export type Subject = v.InferOutput<typeof Subject>;

export const PresentedChange = Fields(
  'A review that was published, edited, voted on, hidden or deleted, or an entity whose name or state changed',
  {
    kind: described(
      v.picklist(['review', 'entity']),
      'A change of a review, or of the name or state of an entity',
      'review',
    ),
    subject: Subject,
    id: Id('The review or entity', '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11'),
    version: LongCount('Rises with every change, and never goes back', 1_795_325_400_123),
    review: described(
      v.nullable(PublicRecord),
      'The review as it is now. `null` if it is not public now, and for an entity',
    ),
    entity: v.optional(
      described(
        v.nullable(Metadata),
        'The entity as it is now. `null` if a moderator has taken its name down',
      ),
    ),
    state: v.optional(EntityState),
    leads_to: v.optional(LeadsTo),
  },
);
export type PresentedChange = v.InferOutput<typeof PresentedChange>;

const { id: userId, display_name, karma } = PresentedUser.entries;

export const PresentedAuthor = Fields('The author of a review, with the current name and karma', {
  id: userId,
  display_name,
  karma,
});
export type PresentedAuthor = v.InferOutput<typeof PresentedAuthor>;

export const ChangePage = Fields('Changes of public reviews', {
  changes: v.array(PresentedChange),
  users: described(v.array(PresentedAuthor), 'The authors of the reviews in `changes`, once each'),
  next: AnyText('The cursor after these changes: send it as `since`', 'eyJ…'),
  has_more: described(v.boolean(), '`true` if there are more changes now', false),
});
export type ChangePage = v.InferOutput<typeof ChangePage>;
