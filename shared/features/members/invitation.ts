// Invitations: a link with which some people may open an account, for some days.
import { hash, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { accessDenied, invalidRequest, notFound } from '../../base/errors.ts';
import { findItem } from '../../base/table/parse.ts';
import { collect, queryItems } from '../../base/table/query.ts';
import { putNew, transact, tryUpdate, type Write } from '../../base/table/transact.ts';
import { epochSeconds, isoOf } from '../../base/time.ts';
import { Name } from '../../base/values.ts';
import { invitationKey } from './kinds.ts';

/** Limits of an invitation, and the most that are open at a time. */
export const invitationLimits = { people: 1000, days: 90, note: 100, count: 100 };

const day = 86_400;

/** Seconds after its end for which an invitation is listed, so that one sees who has come. */
const listed = 30 * day;

/** Text that tells moderators what an invitation is for. */
export const InvitationNote = Name(invitationLimits.note);

/** An invitation as stored. Its id is made from the token in its link. */
export const Invitation = v.object({
  /** A hash of the token: it names the invitation, and opens nothing. */
  id: v.string(),
  note: v.nullable(v.string()),
  created: v.string(),
  /** Time of its end, in ISO 8601. */
  ends_at: v.string(),
  /** Number of people who may join. */
  people: v.number(),
  /** Number of people who have joined. */
  joined: v.number(),
  revoked_at: v.optional(v.string()),
});
export type Invitation = v.InferOutput<typeof Invitation>;

/** The token in a link: 128 random bits. */
export const InvitationToken = v.pipe(v.string(), v.regex(/^[\w-]{22}$/));

const idOf = (token: string) => hash('sha256', `invitation ${token}`).slice(0, 32);

/**
 * Creates an invitation. Returns it with its token, which is stored nowhere. Throws ApiError 400 if
 * there are too many.
 */
export async function createInvitation({
  people,
  days,
  note = null,
}: {
  people: number;
  days: number;
  note?: string | null | undefined;
}): Promise<{ token: string; invitation: Invitation }> {
  const open = (await listInvitations()).filter((each) => endOf(each) === undefined);
  if (open.length >= invitationLimits.count) {
    throw invalidRequest(
      `There are ${invitationLimits.count} open invitations: revoke some of them`,
    );
  }
  const token = randomBytes(16).toString('base64url');
  const ends = epochSeconds(days * day);
  const invitation = {
    id: idOf(token),
    note,
    created: new Date().toISOString(),
    ends_at: isoOf(ends),
    people,
    joined: 0,
  };
  const Item = { ...invitationKey(invitation.id), ...invitation, expires_at: ends + listed };
  await transact([putNew(Item)]);
  return { token, invitation };
}

/** Returns all invitations, the newest first, until 30 days after their end. */
export async function listInvitations(): Promise<Invitation[]> {
  const items = await collect(queryItems(invitationKey('')));
  const now = epochSeconds();
  return items
    .filter(({ expires_at }) => Number(expires_at) > now)
    .map((item) => v.parse(Invitation, item))
    .toSorted((a, b) => b.created.localeCompare(a.created));
}

/** Ends an invitation. Who has joined stays. Throws ApiError 404 if there is none. */
export async function revokeInvitation(id: string): Promise<void> {
  const revoked_at = new Date().toISOString();
  const isThere = await tryUpdate({
    Key: invitationKey(id),
    begin: { revoked_at },
    where: [['ends_at', 'present']],
  });
  if (!isThere) throw notFound('Invitation');
}

/** Reads the invitation of a token, if there is one. */
export async function findInvitation(token: string): Promise<Invitation | undefined> {
  return findItem(Invitation, invitationKey(idOf(token)));
}

/** Says in words why an invitation has ended. Undefined while people can join. */
export function endOf({ revoked_at, ends_at, joined, people }: Invitation): string | undefined {
  if (revoked_at) return 'This invitation was revoked';
  if (ends_at <= new Date().toISOString()) return 'This invitation has expired';
  return joined < people ? undefined : 'All places of this invitation are taken';
}

/**
 * Returns the write by which one more person joins, for the transaction of the new account. It
 * fails, as a stale read, if the invitation has ended since it was read: of two people who take the
 * last place, only one gets it. Throws ApiError 403 with the reason if it has ended.
 */
export async function joinWrite(token: string): Promise<Write> {
  const invitation = await findInvitation(token);
  if (!invitation) throw accessDenied('This invitation does not exist');
  const end = endOf(invitation);
  if (end !== undefined) throw accessDenied(end);
  const { id, people } = invitation;
  return {
    Update: {
      Key: invitationKey(id),
      amounts: { joined: 1 },
      where: [
        ['joined', '<', people],
        ['ends_at', '>', new Date().toISOString()],
        ['revoked_at', 'absent'],
      ],
    },
  };
}
