import * as v from 'valibot';
import type { IndexAttributes } from '../table/item.ts';
import { httpDate } from '../time.ts';
import { Name } from '../values.ts';
import type { OwnProfile, PresentedUser } from './presented.ts';
import { userTypeOf } from './user-type.ts';

/** The public name. */
export const DisplayName = Name(64);

/** One address, at most 254 characters (RFC 5321 section 4.5.3). */
export const Email = v.pipe(
  v.string('must be an email address'),
  v.maxLength(254, 'must have at most 254 characters'),
  v.rfcEmail('must be one email address'),
);

/** A user as it is stored. Times are ISO 8601. */
export const User = v.object({
  id: v.string(),
  display_name: v.string(),
  created: v.string(),
  /** Set from the first sign-in until the person keeps or changes the public name that was proposed. */
  has_proposed_name: v.optional(v.boolean()),
  /** Positive minus negative votes on the user's reviews. */
  karma: v.number(),
  /** When the user last signed out, which ends all sessions begun before; ms since 1970. */
  signed_out: v.optional(v.number()),
  /** Set for who decides on reported reviews. */
  is_moderator: v.optional(v.boolean()),
  /** Set while a moderator has blocked the account, which then writes nothing. */
  blocked_at: v.optional(v.string()),
});
export type User = v.InferOutput<typeof User>;

/** What of an account is not public, as it is stored. */
export const Contact = v.object({
  email: v.nullish(v.string(), null),
  /** The name of the linked account in the music database. */
  musicdb_username: v.nullish(v.string(), null),
  /** SHA-256 of who signs in to it: the key of an identity. */
  identity: v.optional(v.string()),
});
export type Contact = v.InferOutput<typeof Contact>;

/** The condition that an account exists and is not being erased. Writes in its name carry it, mostly as a part of `mayWrite`. */
export const isAlive = 'attribute_exists(pk) AND attribute_not_exists(deleted_at)';

/** Reads a user item; undefined when there is none or the account is being erased. */
export function parseUser(item: Record<string, unknown> | undefined): User | undefined {
  return item && item.deleted_at === undefined ? v.parse(User, item) : undefined;
}

/** A user as everybody may see it. */
export function presentUser(user: User): PresentedUser {
  const { id, display_name, created, karma } = user;
  return {
    id,
    display_name,
    created: httpDate(created),
    karma,
    user_type: userTypeOf(user).label,
  };
}

/** A user's own profile. */
export function presentOwnProfile(user: User, { email, musicdb_username }: Contact): OwnProfile {
  return { ...presentUser(user), email, musicdb_username };
}

/** The index attributes of a user, see table/keys.ts. */
export function listedUser({ id, created }: User): IndexAttributes {
  return { all: 'USER', date: `${created}#${id}` };
}
