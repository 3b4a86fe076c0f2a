import { authUrl } from './auth-url.ts';
import { version } from './routes.ts';

/** The media type of a feed (RFC 4287 section 7). */
export const atomType = 'application/atom+xml';

/** Entity or user whose reviews a feed or a list contains. */
export type ListOwner = { entity_id: string } | { user_id: string };

/** The owner of a feed, or the whole site. */
export type FeedOwner = ListOwner | 'site';

/** Returns the address of the Atom feed of an owner. */
export function feedUrl(owner: FeedOwner): string {
  return `${authUrl()}${version}${owner === 'site' ? '' : pathOf(owner)}/reviews.atom`;
}

/** Link header of an entity or user: its feed and its page, relative to the request (RFC 8288). */
export function linksOf(owner: FeedOwner): string {
  return `${linkToFeed(owner)}, ${linkToPage(pathOf(owner))}`;
}

/** Returns the value of a Link header to the Atom feed (RFC 8288). */
export function linkToFeed(owner: FeedOwner): string {
  return alternate(new URL(feedUrl(owner)), atomType);
}

/** Link header to the page for people at a path below {auth_url}. */
export function linkToPage(path: string): string {
  return alternate(new URL(authUrl() + path), 'text/html');
}

/**
 * Path of an entity or user: its page below {auth_url}, its JSON below the version. The site's is
 * the page of all reviews.
 */
export function pathOf(owner: FeedOwner): string {
  if (owner === 'site') return '/reviews';
  return 'entity_id' in owner ? `/entity/${owner.entity_id}` : `/user/${owner.user_id}`;
}

function alternate({ pathname }: URL, type: string): string {
  return `<${pathname}>; rel="alternate"; type="${type}"`;
}
