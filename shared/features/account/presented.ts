// The account's export as the API describes it.
import * as v from 'valibot';
import {
  AnyText,
  DescribedFields,
  described,
  Fields,
  Id,
  IsoTime,
  TextOrNull,
  Whole,
} from '../../base/described.ts';
import { pick } from '../../base/pick.ts';
import { scopes } from '../../base/routes.ts';
import { PresentedEntityType } from '../../core/entity/presented.ts';
import { decisions } from '../../core/report/decision.ts';
import { moderations, reasons } from '../../core/review/verdict.ts';
import { mailKinds, mailsName } from '../../core/user/mail-kinds.ts';
import { Vote } from '../../core/vote/vote.ts';
import { ownSchemas as schemasOfFiles } from '../bring/public.ts';
import { PublicRecord } from '../changes/public.ts';
import { ownSchemas as schemasOfNames } from '../names/public.ts';

const review_id = Id('The review', '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11');
const client_id = AnyText('The application', '0123456789abcdef0123456789abcdef');
const granted = described(v.array(v.picklist(scopes)), 'Its scopes', ['review', 'vote']);

const decision = {
  decision: described(v.picklist(decisions), 'The decision', 'hide'),
  reason: described(v.picklist(reasons), 'The reason', 'spam'),
  note: AnyText('A note on the reason', 'An advertisement for a shop.'),
  decided_at: IsoTime('The time'),
};

const namedEntity = {
  entity_id: Id('The entity', '8e8a594f-2175-38c7-a871-abb68ec363e7'),
  entity_type: PresentedEntityType,
  name: AnyText('The name', 'Blue Train'),
  about: v.optional(AnyText('The line that tells it apart', 'John Coltrane · 1957')),
  url: v.optional(AnyText('The address of a page about it', 'https://example.org/blue-train')),
};

const nameOfEntity = {
  name: AnyText('The name', 'Blue Train'),
  about: TextOrNull('The line that tells it apart', 'John Coltrane · 1957'),
  url: AnyText('Its page for people', 'https://example.org/blue-train'),
};

const lastDecision = {
  ...decision,
  decision: described(
    v.picklist(moderations),
    'The decision. `hold`: the review waits for a moderator, because its author is new',
    'hide',
  ),
};

const record = PublicRecord.entries;

export const ExportedReview = Fields('A review as it is stored', {
  id: review_id,
  ...pick(record, ['entity_id', 'entity_type', 'language', 'license', 'created']),
  entity: described(v.nullable(v.object(nameOfEntity)), 'The name of the entity, if it has one'),
  published_on: described(
    v.nullable(v.pipe(v.string(), v.isoTimestamp())),
    'When it was published, in ISO 8601; `null` on a draft',
    '2026-11-20T20:30:00.000Z',
  ),
  is_hidden: described(
    v.boolean(),
    '`true` while a moderator hides it, or has to approve it',
    false,
  ),
  popularity: Whole('Positive minus negative votes', 3),
  ...pick(record, ['source', 'source_url']),
  moderation: v.optional(
    described(v.object(lastDecision), 'The last decision of a moderator on it'),
  ),
  appealed_at: v.optional(IsoTime('When the person appealed against the last decision')),
  waiting_since: v.optional(IsoTime('When the new text was sent that waits for a moderator')),
  waiting_text: v.optional(
    AnyText(
      'The new text. Without `waiting_since`, it waits again if the review is restored',
      'A record for every day of the week.',
    ),
  ),
  appeal: v.optional(AnyText('The statement of the appeal, until it is decided', 'It is my own.')),
  revisions: described(
    v.array(record.revisions.item),
    'All revisions, oldest first. The last is the current one. They may continue in the next part',
  ),
});
export type ExportedReview = v.InferOutput<typeof ExportedReview>;

const Several = <T extends v.ObjectEntries>(description: string, entries: T) =>
  v.array(Fields(description, entries));

export const OwnData = Fields('A part of the stored data about the caller', {
  profile: v.optional(
    described(
      v.looseObject({
        id: Id('The user', '9b0c7e2a-55a4-4f0e-8a83-6a6fd0f6d1a2'),
        display_name: AnyText('The public name', 'Ann'),
        created: IsoTime('When the account was created'),
        karma: Whole("Positive minus negative votes on the user's reviews", 12),
        email: TextOrNull('The email address', 'ann@example.com'),
        email_verified: v.optional(
          described(v.boolean(), 'True while the identity provider vouches for `email`', true),
        ),
        email_from: v.optional(
          described(
            v.picklist(['provider', 'person']),
            'The source of `email`: the identity provider, or the person',
            'provider',
          ),
        ),
        sign_in_email: v.optional(
          AnyText('The verified address that signs in, as of the last sign-in', 'ann@example.com'),
        ),
        proposed_name: v.optional(
          AnyText('The name at the identity provider, until a public one is chosen', 'Ann Meier'),
        ),
        moved: v.optional(
          Fields('The last move to another address', {
            from: AnyText('A hash of the identity before, which can undo it', '7d793037…'),
            from_email: v.optional(AnyText('The address before', 'ann@old.example')),
            until: Whole('The end of the time to undo it, in epoch seconds', 1795864800),
          }),
        ),
        musicdb_username: TextOrNull('The name of the linked account in the music database', 'ann'),
        ...v.entriesFromList(
          mailKinds.map(mailsName),
          v.optional(
            described(v.boolean(), 'The choice of mails of this kind, if there is one', true),
          ),
        ),
        identity: TextOrNull('A hash of the identity that signs in', '5d41402a…'),
      }),
      'The account, in the first part',
    ),
  ),
  applications: v.optional(
    v.array(
      described(
        v.looseObject({
          client_id,
          name: AnyText('The name on the consent page', 'Demo'),
          created: IsoTime('When it was registered'),
        }),
        'A registered application, without its secret',
      ),
    ),
  ),
  personal_tokens: v.optional(
    Several('A personal access token, without its secret part', {
      name: AnyText('Its name', 'Script'),
      scopes: granted,
      created: IsoTime('When it was made'),
      expires: IsoTime('Until when it is good'),
    }),
  ),
  votes_by_day: v.optional(
    Several('Votes, reports and writings of a day, stored for a month', {
      day: AnyText('A day of UTC', '2026-11-20'),
      first_votes: Whole('Votes where none of the person was, which the daily limit counts', 3),
      votes: Whole('Votes that were last cast on that day', 4),
      reports: Whole('Reports, which have a daily limit of their own', 1),
      publications: Whole('New reviews and drafts, which have a daily limit of their own', 2),
      edits: Whole('Edits, which have a daily limit of their own', 5),
      names: Whole(
        'Names given or proposed while the account was new, which have a daily limit',
        1,
      ),
      renames: Whole('Changes of the public name, which have a daily limit of their own', 0),
    }),
  ),
  connections: Several('A grant to an application', {
    client_id,
    name: TextOrNull('Its name; `null` if it was deleted', 'Demo'),
    scopes: granted,
    created: IsoTime('When the person allowed it'),
    renewed: IsoTime('When it last got tokens'),
  }),
  reviews: v.array(ExportedReview),
  hidden_and_deleted: Several(
    'A hidden review that the person deleted. The person cannot review that entity again until a moderator allows it',
    {
      review_id,
      entity_id: Id('The reviewed entity', '8e8a594f-2175-38c7-a871-abb68ec363e7'),
      entity_type: PresentedEntityType,
      marked_at: IsoTime('When the person deleted it'),
    },
  ),
  decisions: Several(
    'A decision of a moderator on a review of the person, on the account, or on a name',
    {
      review_id: v.nullable(review_id),
      entity_id: v.optional(namedEntity.entity_id),
      ...decision,
    },
  ),
  votes: v.array(
    Fields('A vote of the person', {
      ...DescribedFields('A vote', v.omit(Vote, ['user_id']), {
        review_id: ['The review', '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11'],
        vote: ['`true` is an upvote, `false` a downvote', true],
        voted_at: ['When it was last cast, in ISO 8601', '2026-11-20T20:30:00.000Z'],
        revision: ['The revision that was current at that time', 1],
      }).entries,
      entity: described(
        v.nullable(v.object(nameOfEntity)),
        'The name of what it is on, if the review is public and the entity has a name',
      ),
    }),
  ),
  reports: Several('A spam report by the person', {
    review_id,
    reason: AnyText('The text of the person', 'Spam'),
    reported_at: IsoTime('The time'),
  }),
  names: Several('A name that the person gave to an entity, as long as nobody has corrected it', {
    ...namedEntity,
    written_at: v.optional(IsoTime('When the person wrote it')),
  }),
  given_names: Several('Each name that the person gave, also if it was corrected since', {
    ...namedEntity,
    written_at: IsoTime('When the person wrote it'),
  }),
  ...schemasOfNames,
  ...schemasOfFiles,
  next: v.optional(AnyText('The `cursor` of the next part. The last part has none')),
});
export type OwnData = v.InferOutput<typeof OwnData>;
