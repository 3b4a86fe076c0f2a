/** User types by lowest karma (`from`), with their limit of first votes per UTC day. */
export const userTypes = [
  { label: 'Blocked', from: Number.MIN_SAFE_INTEGER, votes_per_day: 0 },
  { label: 'Spammer', from: -20, votes_per_day: 0 },
  { label: 'Noob', from: -10, votes_per_day: 10 },
  { label: 'Apprentice', from: 50, votes_per_day: 50 },
  { label: 'Sorcerer', from: 1000, votes_per_day: 200 },
] as const;

export type UserType = (typeof userTypes)[number];

/** Returns a user's type: by karma, unless a moderator has blocked the account. */
export function userTypeOf(user: { karma: number; blocked_at?: string }): UserType {
  const { karma, blocked_at } = user;
  const byKarma = userTypes.findLast(({ from }) => karma >= from);
  return blocked_at === undefined && byKarma ? byKarma : userTypes[0];
}

/** Is true for a moderator who is not blocked. */
export function canModerate(user: { is_moderator?: boolean; blocked_at?: string }): boolean {
  return user.is_moderator === true && user.blocked_at === undefined;
}
