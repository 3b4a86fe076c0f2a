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
import { next, page } from '../../base/list/presented.ts';
import { blockedType, userTypes } from './user-type.ts';

const labels = [...userTypes, blockedType].map(({ label }) => label);

const userType = described(
  v.picklist(labels),
  'The user type by karma, or `Blocked` if a moderator has blocked the account',
  'Noob',
);

const profile = {
  id: Id('The user', '9b0c7e2a-55a4-4f0e-8a83-6a6fd0f6d1a2'),
  display_name: AnyText('The public name', 'Ann'),
  created: HttpDate('When the account was created'),
  karma: Whole("Positive minus negative votes on the user's reviews", 12),
};

export const PresentedUser = Fields('A public profile', {
  ...profile,
  user_type: userType,
});
export type PresentedUser = v.InferOutput<typeof PresentedUser>;

export const UserResponse = v.object({ user: PresentedUser });

const contact = {
  email: TextOrNull(
    'The email address, not verified; `null` where there is none',
    'ann@example.com',
  ),
  musicdb_username: TextOrNull('The name of the linked account in the music database', null),
};

export type OwnProfile = PresentedUser & { [name in keyof typeof contact]: string | null };

export const Activity = Fields('Activity of a user', {
  reviews_today: Count('Reviews published today, in UTC', 1),
  reviews_last_7_days: Count('Reviews published in the seven days that end today', 3),
  reviews_this_month: Count('Reviews published since the month began', 5),
  votes_today: Count('Votes last cast today, in UTC', 2),
  votes_last_7_days: Count('Votes last cast in the seven days that end today', 8),
  votes_this_month: Count('Votes last cast since the month began', 21),
});
export type Activity = v.InferOutput<typeof Activity>;

export const UserTypeWithLimit = Fields('A user type with its limit', {
  label: userType,
  votes_per_day: Count('The most new votes in a UTC day', 10),
});

export const OwnProfileIncluding = Fields("The caller's own profile", {
  ...profile,
  user_type: described(
    // Without a name of its own: the union of two named schemas compiles in fewer languages.
    v.union([v.picklist(labels), UserTypeWithLimit]),
    'The user type by karma. With `inc=user_type` an object with its limit',
    'Noob',
  ),
  ...contact,
  stats: v.optional(Activity),
});

export const OwnProfileResponse = v.object({ user: OwnProfileIncluding });

export const UserPage = Fields('A page of users', { ...page, users: v.array(PresentedUser), next });
