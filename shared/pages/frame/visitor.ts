// The signed-in person who opens a page.
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { languages } from '../../base/languages.ts';
import { listHeaderOf, requireHttps } from '../../core/http/read-request.ts';
import { countWaiting } from '../../core/report/desk.ts';
import type { User } from '../../core/user/user.ts';
import { findUser } from '../../core/user/user-repository.ts';
import { canModerate } from '../../core/user/user-type.ts';
import { csrfToken, readSession, type Session } from '../session/session.ts';
import type { Visitor } from './layout.ts';
import { addressOf } from './own-url.ts';

/** The signed-in person, unless the account is deleted or has signed out since. */
export async function visitorOf(
  event: APIGatewayProxyEvent,
  session?: Session,
  user?: User,
): Promise<Visitor | undefined> {
  if (!session || !user || session.signed_in <= (user.signed_out ?? 0)) return undefined;
  const languages = acceptedLanguages(event);
  return { user, csrf: await csrfToken(session), here: addressOf(event), languages };
}

/** Returns the languages of reviews that a browser asks for (RFC 9110 section 12.5.4). */
function acceptedLanguages(event: APIGatewayProxyEvent): string[] {
  const ranges = (listHeaderOf(event, 'accept-language') ?? '').slice(0, 500).split(',');
  const weighed = ranges.map((range) => {
    const [tag = '', weight = ''] = range.split(';');
    const quality = /^\s*q=([\d.]+)\s*$/.exec(weight)?.[1] ?? 1;
    return {
      code: tag.trim().slice(0, 2).toLowerCase(),
      tag: tag.trim(),
      quality: Number(quality),
    };
  });
  const known = weighed
    .filter(({ tag, code }) => /^[a-z]{2}(-|$)/i.test(tag) && languages.includes(code))
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  return [...new Set(known.map(({ code }) => code))].slice(0, 5);
}

/** Adds the number of what waits, for a moderator: up to 12.5 units in one round trip. */
export async function withWaiting(visitor: Visitor): Promise<Visitor> {
  if (!canModerate(visitor.user)) return visitor;
  return { ...visitor, waiting: await countWaiting() };
}

/**
 * Finds the person who reads the public page at `here`. Costs nothing without a session cookie,
 * and otherwise half a read unit. A moderator also gets the number of what waits. Reads again if a
 * replica does not know a new account yet.
 */
export async function findVisitor(
  event: APIGatewayProxyEvent,
  here: string,
): Promise<Visitor | undefined> {
  const session = await readSession(event);
  if (!session) return undefined;
  requireHttps(event);
  const { user_id } = session;
  const user = (await findUser(user_id, { consistent: false })) ?? (await findUser(user_id));
  const visitor = await visitorOf(event, session, user);
  return visitor && withWaiting({ ...visitor, here });
}
