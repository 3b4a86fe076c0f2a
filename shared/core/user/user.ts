import { domainToASCII } from 'node:url';
import * as v from 'valibot';
import type { Item } from '../../base/table/item.ts';
import { parseItems } from '../../base/table/parse.ts';
import type { Where } from '../../base/table/write.ts';
import { httpDate } from '../../base/time.ts';
import { Name, namesHost } from '../../base/values.ts';
import { StoredMailSettings } from './mail-kinds.ts';
import { News } from './news.ts';
import type { OwnProfile, PresentedUser } from './presented.ts';
import { userTypeOf } from './user-type.ts';

/** The name stands in lists, and in mails of the service: it must not lead anywhere. */
export const DisplayName = v.pipe(
  Name(64),
  v.check(
    (name) => !namesHost(name),
    'must not contain an address of a website or of mail. Write a space after a dot',
  ),
);

/** An address of at most 254 characters (RFC 5321 section 4.5.3), as older code has stored it. */
export const StoredEmail = v.pipe(
  v.string('must be an email address'),
  v.maxLength(254, 'must have at most 254 characters'),
  v.rfcEmail('must be one email address'),
);

/**
 * One address of at most 254 characters (RFC 5321 section 4.5.3), whose domain has a dot. A domain
 * in any script or case becomes the one of DNS, so that its spellings are one. Before the @ it has
 * ASCII alone, because many mail servers take nothing else.
 */
export const Email = v.pipe(
  v.string('must be an email address'),
  v.maxLength(254, 'must have at most 254 characters'),
  v.check((text) => /^[\0-\x7f]*@|^[^@]*$/.test(text), 'must have only ASCII before the @'),
  v.check((text) => inDns(text) !== undefined, 'must be one email address'),
  v.transform((text) => inDns(text) ?? text),
);

/** An address without quotes, comments, and the signs that shells and lists read (RFC 5322). */
const mailbox = /^[\w!#$%&'*+/=?^{}~-]+(\.[\w!#$%&'*+/=?^{}~-]+)*$/;
/** Letters, marks and digits of any script, hyphens, and the dots that IDNA knows (RFC 3490). */
const anyDomain = /^[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]+$/u;
/** Labels as DNS has them. The last one is no number, as in an IP address. */
const domainOfDns = /^([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)+[a-z]([a-z\d-]{0,61}[a-z\d])$/;

/** Returns the address with its domain as DNS has it, or undefined if it is none. */
function inDns(text: string): string | undefined {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  const sent = text.slice(at + 1);
  if (at < 1 || local.length > 64 || !mailbox.test(local) || !anyDomain.test(sent)) {
    return undefined;
  }
  const domain = domainToASCII(sent);
  const address = `${local}@${domain}`;
  return domainOfDns.test(domain) && address.length <= 254 ? address : undefined;
}

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

/** Seconds for which the earlier identity can undo a move. Until then there is no other move. */
export const undoSeconds = 7 * 86_400;

/** A move of an account to another identity, which the earlier one can undo for a while. */
const Moved = v.object({
  /** SHA-256 key of the earlier identity. */
  from: v.string(),
  /** The verified address of the earlier identity, if there was one. */
  from_email: v.optional(v.string()),
  /** End of the time to undo it, in epoch seconds. */
  until: v.number(),
});

/** The private part of an account, as stored. */
export const Contact = v.object({
  email: v.nullish(v.string(), null),
  /** True while the identity provider, or that of an imported account, vouches for `email`. */
  email_verified: v.optional(v.boolean()),
  /** Source of `email`. Each sign-in follows the provider's. Older code has not noted it. */
  email_from: v.optional(v.picklist(['provider', 'person'])),
  /** The verified address that signs in, as of the last sign-in. `email` may be another one. */
  sign_in_email: v.optional(v.string()),
  /** The provider's name of a person who has not chosen a public name yet. */
  proposed_name: v.optional(v.string()),
  /** Name of the linked account in the music database. */
  musicdb_username: v.nullish(v.string(), null),
  /** SHA-256 key of the identity that signs in to it. */
  identity: v.optional(v.string()),
  /** The last move to another identity by the person. */
  moved: v.optional(Moved),
  ...StoredMailSettings.entries,
});
export type Contact = v.InferOutput<typeof Contact>;

/** Returns a name to propose to somebody whose own name is unknown or taken. */
export function readerName(id: string): string {
  return `Reader ${id.slice(0, 4)}`;
}

/** Condition that an account exists and is not being erased. Mostly part of `mayWrite`. */
export const whereAlive: Where = [
  ['pk', 'present'],
  ['deleted_at', 'absent'],
];

/** Condition that an account is gone or being erased. */
export const whereGone: Where = [{ any: [[['pk', 'absent']], [['deleted_at', 'present']]] }];

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
