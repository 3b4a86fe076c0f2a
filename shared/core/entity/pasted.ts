import { authUrl } from '../../base/auth-url.ts';
import { canonicalUuid } from '../../base/values.ts';
import { type Database, databaseTypes } from './databases.ts';
import { type EntityType, groupOf } from './entity-type.ts';
import { pageOf, settingsOf } from './metadata-provider.ts';

// What people paste to name an entity: its id, or the address of its page.

interface Pasted {
  id: string;
  /** Absent for an id alone. */
  type?: EntityType;
}

/** Pages of the public databases, which are understood on every service. */
const publicPages: Readonly<Record<Database, string>> = {
  musicdb: 'https://musicbrainz.org/{type}/{id}',
  bookdb: 'https://bookbrainz.org/{type}/{id}',
};

/**
 * Reads an id or address. Returns null for an address of anything else, and undefined for text that
 * is no address. Nothing is asked for, so any address may be pasted.
 */
export function readPasted(text: string): Pasted | null | undefined {
  const id = canonicalUuid(text);
  if (id) return { id };
  if (!/^(https?:\/\/|[\w-]+(\.[\w-]+)+(:\d+)?\/)\S*$/i.test(text)) return undefined;
  const address = withoutScheme(text.toLowerCase());
  const [named] = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/.exec(address) ?? [];
  if (!named) return null;
  const isPage = (page: string) => isBelow(address, withoutScheme(page.toLowerCase()));
  if (isPage(`${authUrl()}/entity/${named}`)) return { id: named };
  const type = databaseTypes.find((type) => pagesOf(type, named).some(isPage));
  return type ? { id: named, type } : null;
}

/** Returns the address of the site of a database, for people. */
export function siteOf(group: Database): string {
  const { page } = settingsOf(group);
  return new URL('/', URL.parse(page ?? '') ?? publicPages[group]).href;
}

/**
 * Returns the page of an entity in the configured database of its type, or in the public one. What
 * people have added here has its page here.
 */
export function publicPageOf(type: EntityType, id: string): string {
  return pagesOf(type, id)[0] ?? `${authUrl()}/entity/${id}`;
}

function pagesOf(type: EntityType, id: string): string[] {
  const group = groupOf(type);
  if (group === 'own') return [];
  const pages = [settingsOf(group).page, publicPages[group]];
  return pages.flatMap((page) => (page ? [pageOf({ page }, type, id)] : []));
}

/** Pages of a mirror for tests have the same ids. */
function withoutScheme(address: string): string {
  return address.replace(/^https?:\/\//, '').replace(/^(www|beta)\./, '');
}

/** Is true for the page, its tabs, and the page with a query or a fragment. */
function isBelow(address: string, page: string): boolean {
  return address.startsWith(page) && /^([/?&#]|$)/.test(address.slice(page.length));
}
