import * as v from 'valibot';
import { AnyText, Count, described, Fields, Id, IsoTime, LongCount } from '../../base/described.ts';
import {
  EntityState,
  LeadsTo,
  Metadata,
  PresentedEntityType,
} from '../../core/entity/presented.ts';
import { caseOrigins } from '../../core/review/case.ts';
import { PresentedReview } from '../../core/review/presented.ts';
import { reasons } from '../../core/review/verdict.ts';
import { Subject } from '../changes/public.ts';

// The messages of webhooks as the API describes them. Tests hold each message that is sent to this.

const timestamp = IsoTime('When it happened');

export const ReviewMessage = Fields('A message about a review', {
  type: described(
    v.picklist(['review.published', 'review.edited', 'review.voted', 'review.removed']),
    'The weightiest change of those that you have chosen',
    'review.edited',
  ),
  timestamp,
  data: Fields('The review', {
    subject: Subject,
    id: Id('The review', '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11'),
    version: LongCount(
      'Rises with every change of the review, and never goes back. Skip a message whose version is not above yours',
      1_795_325_400_123,
    ),
    entity_id: described(
      v.nullable(v.pipe(v.string(), v.uuid())),
      'The reviewed entity; `null` only after a replay of changes that an older release has logged',
      '8e8a594f-2175-38c7-a871-abb68ec363e7',
    ),
    user_id: described(
      v.nullable(v.pipe(v.string(), v.uuid())),
      'Its author; `null` like `entity_id`',
      '9b0c7e2a-55a4-4f0e-8a83-6a6fd0f6d1a2',
    ),
    review: described(
      v.nullable(PresentedReview),
      'The review as anybody sees it now; `null` if it is not public, or `truncated`',
    ),
    truncated: described(
      v.boolean(),
      '`true` if the review is left out: the message would exceed 24 KB, or its imported text is longer than people write. Read it from `/review/{review_id}`',
      false,
    ),
  }),
});
export type ReviewMessage = v.InferOutput<typeof ReviewMessage>;

export const PersonMessage = Fields('A message about a person who used the application', {
  type: described(
    v.picklist(['access.revoked', 'user.deleted']),
    'The end of the access, or of the account',
    'user.deleted',
  ),
  timestamp,
  data: Fields('The person', {
    user_id: Id('The person', '9b0c7e2a-55a4-4f0e-8a83-6a6fd0f6d1a2'),
  }),
});
export type PersonMessage = v.InferOutput<typeof PersonMessage>;

export const EntityMessage = Fields('A message about the name or state of an entity', {
  type: described(v.literal('entity.edited'), 'Always the same', 'entity.edited'),
  timestamp,
  data: Fields('The entity', {
    subject: Subject,
    entity: described(
      v.nullable(Metadata),
      'The entity as it is now. `null` if a moderator has taken its name down',
    ),
    state: EntityState,
    leads_to: LeadsTo,
    version: LongCount(
      'Rises with every change of the entity, and never goes back',
      1_795_325_400_123,
    ),
  }),
});
export type EntityMessage = v.InferOutput<typeof EntityMessage>;

export const CaseMessage = Fields(
  'A message about a review or a name that waits for moderators. Only webhooks of moderators get it',
  {
    type: described(v.literal('case.opened'), 'Always the same', 'case.opened'),
    timestamp,
    data: Fields('The review or name that waits, without a text of it or of a report', {
      review_id: described(
        v.nullable(v.pipe(v.string(), v.uuid())),
        'The review; `null` for a name',
        '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11',
      ),
      entity_id: Id('The reviewed or named entity', '8e8a594f-2175-38c7-a871-abb68ec363e7'),
      entity_type: PresentedEntityType,
      opened_by: described(
        v.picklist([...caseOrigins, 'proposal', 'name']),
        'The kind of what waits: a `report`, a review on `hold` because its author is new, an `edit` by a new author, an `appeal`, a `proposal` to correct a name, or the first `name` of something by a new author',
        'report',
      ),
      opened_at: IsoTime('When it began to wait'),
      reasons: Fields(
        'The number of undecided reports, by reason',
        v.entriesFromList(reasons, Count('Reports with this reason', 1)),
      ),
      url: AnyText(
        'The page for moderators to decide on it',
        'https://reviews.example/account/moderation/reviews/2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11',
      ),
    }),
  },
);
export type CaseMessage = v.InferOutput<typeof CaseMessage>;

export const RestartMessage = Fields(
  'A message that changes were lost, for example by a restore. Delete what you have, and read all reviews again',
  {
    type: described(v.literal('log.restarted'), 'Always the same', 'log.restarted'),
    timestamp,
    data: described(v.object({}), 'Nothing', {}),
  },
);
export type RestartMessage = v.InferOutput<typeof RestartMessage>;

export const TestMessage = Fields('A test of the receiver', {
  type: described(v.literal('webhook.test'), 'Always the same', 'webhook.test'),
  timestamp,
  data: Fields('The test', {
    challenge: AnyText('The answer to this message', '3f0c9b1e5d7a4c2f8e6b1a0d9c8b7a65'),
  }),
});
export type TestMessage = v.InferOutput<typeof TestMessage>;

/** Any message of a webhook. */
export type WebhookMessage =
  | ReviewMessage
  | EntityMessage
  | PersonMessage
  | CaseMessage
  | RestartMessage
  | TestMessage;
