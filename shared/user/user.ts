import * as v from 'valibot';
import type { Item } from '../table/item.ts';
import { parseItems } from '../table/parse.ts';
import { httpDate } from '../time.ts';
import { Name } from '../values.ts';
import { StoredMailSettings } from './mail-kinds.ts';
import { News } from './news.ts';
import type { OwnProfile, PresentedUser } from './presented.ts';
import { userTypeOf } from './user-type.ts';

export const DisplayName = Name(64);

/** One address of at most 254 characters (RFC 5321 section 4.5.3). */
export const Email = v.pipe(
  v.string('must be an email address'),
  v.maxLength(254, 'must have at most 254 characters'),
  v.rfcEmail('must be one email address'),
);

/** A user as stored. Times are ISO 8601. */
export const User = v.object({
  id: v.string(),
  display_name: v.string(),
  created: v.string(),
  /** Set until the person confirms or changes the name proposed at the first sign-in. */
  has_proposed_name: v.optional(v.boolean()),
  /** Positive minus negative votes on the user's reviews. */
  karma: v.number(),
  /** Last sign-out, in ms since 1970. It ended all earlier sessions. */
  signed_out: v.optional(v.number()),
  is_moderator: v.optional(v.boolean()),
  /** Set while a moderator blocks the account, which then cannot write. */
  blocked_at: v.optional(v.string()),
  /**
   * Id of the decision to take back, or to bring back, all that the account did, until that is
   * done.
   */
  hiding: v.optional(v.string()),
  /** Id of the decision to take back all that the account did, unless that was undone. */
  taken_back: v.optional(v.string()),
  ...News.entries,
});
export type User = v.InferOutput<typeof User>;

/** The private part of an account, as stored. */
export const Contact = v.object({
  email: v.nullish(v.string(), null),
  /** True if this service, its provider or that of an imported account has verified `email`. */
  email_verified: v.optional(v.boolean()),
  /** Name of the linked account in the music database. */
  musicdb_username: v.nullish(v.string(), null),
  /** SHA-256 key of the identity that signs in to it. */
  identity: v.optional(v.string()),
  ...StoredMailSettings.entries,
});
export type Contact = v.InferOutput<typeof Contact>;

/** Returns a name to propose to somebody whose own name is unknown or taken. */
export function readerName(id: string): string {
  return `Reader ${id.slice(0, 4)}`;
}

/** Condition that an account exists and is not being erased. Mostly part of `mayWrite`. */
export const whereAlive = 'attribute_exists(pk) AND attribute_not_exists(deleted_at)';

/** Returns undefined without an item, or if the account is being erased. */
export function parseUser(item: Record<string, unknown> | undefined): User | undefined {
  return item && item.deleted_at === undefined ? v.parse(User, item) : undefined;
}

/** Parses the users of a list that exist, as `parseItems` does. */
export function parseUsers(items: readonly (Item | undefined)[]): User[] {
  return parseItems(
    User,
    items.filter((item) => item?.deleted_at === undefined),
  );
}

/** Presents a public profile. Times become HTTP dates. */
export function presentUser(user: User): PresentedUser {
  const { id, display_name, created, karma } = user;
  return { id, display_name, created: httpDate(created), karma, user_type: userTypeOf(user).label };
}

/** Presents a profile as its owner sees it. */
export function presentOwnProfile(user: User, { email, musicdb_username }: Contact): OwnProfile {
  return { ...presentUser(user), email, musicdb_username };
}
