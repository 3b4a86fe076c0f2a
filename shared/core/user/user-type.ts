/**
 * User types by lowest karma (`from`), with their limit of first votes per UTC day. The first one
 * has no lowest karma: other people's votes take nothing from an account that a newcomer has.
 */
export const userTypes = [
  { label: 'Noob', from: Number.MIN_SAFE_INTEGER, votes_per_day: 10 },
  { label: 'Apprentice', from: 50, votes_per_day: 50 },
  { label: 'Sorcerer', from: 1000, votes_per_day: 200 },
] as const;

/** The type of an account that a moderator has blocked, whatever its karma. */
export const blockedType = {
  label: 'Blocked',
  from: Number.MIN_SAFE_INTEGER,
  votes_per_day: 0,
} as const;

export type UserType = (typeof userTypes)[number] | typeof blockedType;

/** Returns a user's type: by karma, unless a moderator has blocked the account. */
export function userTypeOf(user: { karma: number; blocked_at?: string }): UserType {
  const { karma, blocked_at } = user;
  if (blocked_at !== undefined) return blockedType;
  return userTypes.findLast(({ from }) => karma >= from) ?? userTypes[0];
}

/** Is true for a moderator who is not blocked. */
export function canModerate(user: { is_moderator?: boolean; blocked_at?: string }): boolean {
  return user.is_moderator === true && user.blocked_at === undefined;
}
