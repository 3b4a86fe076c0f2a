import * as v from 'valibot';
import {
  AnyText,
  Count,
  described,
  Fields,
  HttpDate,
  Id,
  TextOrNull,
  Whole,
} from '../../base/described.ts';
import { languages } from '../../base/languages.ts';
import { licenses } from '../../base/licenses.ts';
import { next, page } from '../../base/list/presented.ts';
import { AverageRating, Metadata, PresentedEntityType } from '../entity/presented.ts';
import { PresentedUser } from '../user/presented.ts';
import { moderations, reasons } from './verdict.ts';
import { shownTexts, Written, type WrittenName, writtenNames } from './written.ts';

export const PresentedLanguage = described(
  v.picklist(languages),
  'An ISO 639-1 code, in lower case',
  'en',
);

export const LanguagesResponse = v.object({ languages: v.array(PresentedLanguage) });

export const PresentedLicense = Fields('The licence of a review', {
  id: described(
    v.picklist(licenses.map(({ id }) => id)),
    'The value for `license_choice`',
    'CC BY-SA 4.0',
  ),
  full_name: AnyText('Its name', 'Creative Commons Attribution-ShareAlike 4.0 International'),
  info_url: AnyText('The address of its text', 'https://creativecommons.org/licenses/by-sa/4.0/'),
});

type Entries = typeof Written.entries;

/** The written fields, which every answer has. */
const written = Object.fromEntries(
  writtenNames.map((name) => {
    const [text, example] = shownTexts[name];
    const field: v.GenericSchema = v.nullable<v.GenericSchema>(Written.entries[name].wrapped);
    return [name, described(field, text, example)];
  }),
) as { [Name in WrittenName]: v.NullableSchema<Entries[Name]['wrapped'], undefined> };

const review = {
  id: Id('The review', '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11'),
  entity_id: Id('The reviewed entity', '8e8a594f-2175-38c7-a871-abb68ec363e7'),
  entity_type: PresentedEntityType,
  ...written,
  language: PresentedLanguage,
  license: PresentedLicense,
  created: HttpDate('When it was first saved'),
  published_on: TextOrNull(
    'When it was published, as an HTTP date; `null` on a draft',
    'Fri, 20 Nov 2026 20:30:00 GMT',
  ),
  last_updated: HttpDate('When the current revision was made'),
  edits: Count('The number of revisions after the first', 0),
  popularity: Whole('Positive minus negative votes', 3),
  source: TextOrNull('The source of an imported review', null),
  source_url: TextOrNull('Its address at the source', null),
  user: PresentedUser,
  votes: Fields('All votes on it', {
    positive: Count('Upvotes', 4),
    negative: Count('Downvotes', 1),
  }),
};

export const PresentedReview = described(v.object(review), 'A review');
export type PresentedReview = v.InferOutput<typeof PresentedReview>;

export const ReviewResponse = v.object({ review: PresentedReview });

const metadata = v.optional(
  described(
    v.nullable(Metadata),
    'With `include_metadata=true`: name and page of the entity; `null` if unknown or not available now',
  ),
);

export const ListedReview = Fields('A review, with metadata of its entity if requested', {
  ...review,
  metadata,
});

export const PresentedModeration = Fields('The last decision of a moderator on a review', {
  decision: described(
    v.picklist(moderations),
    'The decision: `hide` the review, `dismiss` the reports, `restore` the review, or `uphold` that it is hidden. `hold`: a review of a newcomer waits for a moderator, who may `approve` or `hide` it. `refuse`: a new text of a newcomer was dropped, and the one before stays',
    'hide',
  ),
  reason: described(v.picklist(reasons), 'The reason', 'spam'),
  note: AnyText('A note on the reason; may be empty', 'An advertisement for a shop.'),
  decided_at: HttpDate('When it was decided'),
});

export const OwnReview = Fields('A review as its author sees it', {
  ...review,
  is_draft: described(v.boolean(), '`true` while only its author sees it', false),
  is_hidden: described(
    v.boolean(),
    '`true` while a moderator hides it, or has to approve it',
    false,
  ),
  moderation: described(
    v.nullable(PresentedModeration),
    'The last decision of a moderator on it; `null` without one',
    null,
  ),
  waiting_text: v.optional(
    AnyText(
      'A new text that waits for a moderator, while `text` stays public. Absent without one',
      'Forty minutes that reward every new listen, and the singles do too.',
    ),
  ),
});

export const PresentedRevision = Fields('One state of a review', {
  id: described(v.pipe(v.number(), v.integer(), v.minValue(1)), 'Its number: the first is 1', 1),
  review_id: Id('Its review', '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11'),
  ...written,
  timestamp: HttpDate('When it was made'),
  votes_positive: Count('Upvotes that were last cast while it was current', 4),
  votes_negative: Count('Downvotes that were last cast while it was current', 1),
});
export type PresentedRevision = v.InferOutput<typeof PresentedRevision>;

export const RevisionResponse = v.object({ revision: PresentedRevision });

export const RevisionsResponse = v.object({ revisions: v.array(PresentedRevision) });

export const AtomFeed = AnyText(
  'A feed of reviews (RFC 4287)',
  '<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom">…</feed>',
);

export const ReviewPage = Fields(
  'A page of reviews, with `average_rating` if `entity_id` was sent',
  { ...page, reviews: v.array(ListedReview), average_rating: v.optional(AverageRating), next },
);

export const OwnReviewPage = Fields("A page of the caller's reviews", {
  ...page,
  reviews: v.array(OwnReview),
});
export type OwnReviewPage = v.InferOutput<typeof OwnReviewPage>;

export const ReviewsById = Fields('Several reviews', {
  reviews: described(v.record(v.string(), PresentedReview), 'By their ids in canonical form'),
  review_id_mapping: described(
    v.record(v.string(), v.string()),
    'The canonical form of each id that was sent and found',
    { '2F6D1C1E0A1B4B5F9C395F3B1D0A7E11': '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11' },
  ),
});
