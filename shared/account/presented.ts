import * as v from 'valibot';
import { PublicRecord } from '../changes/presented.ts';
import { Count, described, Id, IsoTime } from '../described.ts';
import { PresentedEntityType } from '../entity/presented.ts';
import { decisions } from '../moderation/decision.ts';
import { reasons } from '../moderation/verdict.ts';
import { pick } from '../pick.ts';
import { scopes } from '../routes.ts';

const review_id = Id('The review', '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11');
const client_id = described(v.string(), 'The application', '0123456789abcdef0123456789abcdef');
const text = (description: string, example: string) =>
  described(v.nullable(v.string()), description, example);
const whole = (description: string, example: number) =>
  described(v.pipe(v.number(), v.integer()), description, example);
const granted = described(v.array(v.picklist(scopes)), 'What it may do', ['review', 'vote']);

const decision = {
  decision: described(v.picklist(decisions), 'What was decided', 'hide'),
  reason: described(v.picklist(reasons), 'Why', 'spam'),
  note: described(v.string(), 'Grounds, in words', 'An advertisement for a shop.'),
  decided_at: IsoTime('When'),
};

const record = PublicRecord.entries;

export const ExportedReview = described(
  v.object({
    id: review_id,
    ...pick(record, ['entity_id', 'entity_type', 'language', 'license', 'created']),
    published_on: described(
      v.nullable(v.pipe(v.string(), v.isoTimestamp())),
      'When it was published, in ISO 8601; `null` on a draft',
      '2026-11-20T20:30:00.000Z',
    ),
    is_hidden: described(v.boolean(), 'Whether a moderator has hidden it', false),
    popularity: whole('Positive minus negative votes', 3),
    ...pick(record, ['source', 'source_url']),
    moderation: v.optional(described(v.object(decision), 'The last decision of a moderator on it')),
    appealed_at: v.optional(IsoTime('When the person appealed against the last decision')),
    appeal: v.optional(
      described(v.string(), 'What the person said to that, until it is decided', 'It is my own.'),
    ),
    revisions: described(
      v.array(record.revisions.item),
      'All of them, the first one first; the last is the review as it is. Those of one review may go on in the next part',
    ),
  }),
  'A review as it is stored',
);
export type ExportedReview = v.InferOutput<typeof ExportedReview>;

export const OwnData = described(
  v.object({
    profile: v.optional(
      described(
        v.looseObject({
          id: Id('The user', '9b0c7e2a-55a4-4f0e-8a83-6a6fd0f6d1a2'),
          display_name: described(v.string(), 'The public name', 'Ann'),
          created: IsoTime('When the account was created'),
          karma: whole("Positive minus negative votes on the user's reviews", 12),
          email: text('The email address', 'ann@example.com'),
          musicdb_username: text('The name of the linked account in the music database', 'ann'),
          identity: text('A hash of who signs in', '5d41402a…'),
        }),
        'The account; in the first part, as is all that is never long',
      ),
    ),
    applications: v.optional(
      v.array(
        described(
          v.looseObject({
            client_id,
            name: described(v.string(), 'What people are shown', 'Demo'),
            created: IsoTime('When it was registered'),
          }),
          'An application that the person has registered, without its secret',
        ),
      ),
    ),
    personal_tokens: v.optional(
      v.array(
        described(
          v.object({
            name: described(v.string(), 'What the person calls it', 'Script'),
            scopes: granted,
            created: IsoTime('When it was made'),
            expires: IsoTime('Until when it is good'),
          }),
          'A personal access token, without what would let somebody use it',
        ),
      ),
    ),
    votes_by_day: v.optional(
      v.array(
        described(
          v.object({
            day: described(v.string(), 'A day of UTC', '2026-11-20'),
            first_votes: whole('First votes on a review, which the daily limit counts', 3),
            votes: whole('Votes that were last cast on that day', 4),
            reports: whole('Reports, which have a daily limit of their own', 1),
          }),
          'How many votes and reports there were on a day; kept for a month',
        ),
      ),
    ),
    connections: v.array(
      described(
        v.object({
          client_id,
          name: text('What it is called; `null` when it is gone', 'Demo'),
          scopes: granted,
          created: IsoTime('When the person allowed it'),
          renewed: IsoTime('When it last got tokens'),
        }),
        'What the person has allowed an application',
      ),
    ),
    reviews: v.array(ExportedReview),
    hidden_and_deleted: v.array(
      described(
        v.object({
          review_id,
          entity_id: Id('What was reviewed', '6b1d2f0e-3b52-4c43-9a2a-3d8a55a1c0de'),
          entity_type: PresentedEntityType,
          marked_at: IsoTime('When the person deleted it'),
        }),
        'A review that the person has deleted while a moderator had hidden it. The person cannot review that entity again until a moderator allows it',
      ),
    ),
    decisions: v.array(
      described(
        v.object({ review_id: v.nullable(review_id), ...decision }),
        'A decision of a moderator on a review of the person, or on the account',
      ),
    ),
    votes: v.array(
      described(
        v.object({
          review_id,
          vote: described(v.boolean(), '`true` is an upvote, `false` a downvote', true),
          voted_at: IsoTime('When it was last cast'),
          revision: Count('The revision that was current then', 1),
        }),
        'A vote of the person',
      ),
    ),
    reports: v.array(
      described(
        v.object({
          review_id,
          reason: described(v.string(), 'What the person wrote', 'Spam'),
          reported_at: IsoTime('When'),
        }),
        'A spam report by the person',
      ),
    ),
    next: v.optional(
      described(v.string(), 'Sent as `cursor`, it gets the next part; the last part has none'),
    ),
  }),
  'A part of what is stored about the caller',
);
export type OwnData = v.InferOutput<typeof OwnData>;
