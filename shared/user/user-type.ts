/** What karma makes of a user, and how many reviews a user may newly vote on in a UTC day. `from` is the lowest karma. */
export const userTypes = [
  { label: 'Blocked', from: Number.MIN_SAFE_INTEGER, votes_per_day: 0 },
  { label: 'Spammer', from: -20, votes_per_day: 0 },
  { label: 'Noob', from: -10, votes_per_day: 10 },
  { label: 'Apprentice', from: 50, votes_per_day: 50 },
  { label: 'Sorcerer', from: 1000, votes_per_day: 200 },
] as const;

export type UserType = (typeof userTypes)[number];

/** The type of a user: by karma, unless a moderator has blocked the account. */
export function userTypeOf({
  karma,
  blocked_at,
}: {
  karma: number;
  blocked_at?: string;
}): UserType {
  const byKarma = userTypes.findLast(({ from }) => karma >= from);
  return blocked_at === undefined && byKarma ? byKarma : userTypes[0];
}

/** Whether somebody decides on reported reviews. A blocked moderator does not. */
export function canModerate({
  is_moderator = false,
  blocked_at,
}: {
  is_moderator?: boolean;
  blocked_at?: string;
}): boolean {
  return is_moderator && blocked_at === undefined;
}
