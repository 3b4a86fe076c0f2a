import { authUrl } from '../auth-url.ts';
import { version } from '../routes.ts';

/** The media type of a feed (RFC 4287 section 7). */
export const atomType = 'application/atom+xml';

/** Whose reviews a feed is of. */
export type FeedOwner = { entity_id: string } | { user_id: string };

/** The header that leads to the feed of an entity or user (RFC 8288). */
export function linkToFeed(owner: FeedOwner): string {
  const { pathname } = new URL(authUrl());
  return `<${pathname}${pathOf(owner)}/reviews.atom>; rel="alternate"; type="${atomType}"`;
}

/** Where an entity or user is, below the stage. */
export function pathOf(owner: FeedOwner): string {
  return 'entity_id' in owner
    ? `${version}/entity/${owner.entity_id}`
    : `${version}/user/${owner.user_id}`;
}
