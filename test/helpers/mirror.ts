import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * State of a mirror: its position, the public reviews by id as one line each, the highest version
 * seen of each, and the known users.
 */
export interface Mirror {
  since: string;
  reviews: Record<string, string>;
  versions: Record<string, number>;
  users: Record<string, { display_name: string; karma: number }>;
}

/** Reads the state of a mirror. */
export function readMirror(file: string): Mirror {
  return JSON.parse(readFileSync(file, 'utf8')) as Mirror;
}

/** Writes the whole state or nothing, even if the process is killed. */
export function keepMirror(file: string, mirror: Mirror): void {
  writeFileSync(`${file}.new`, JSON.stringify(mirror));
  renameSync(`${file}.new`, file);
}

interface PublicReview {
  id: string;
  revisions: { id: number; timestamp: string }[];
  earlier_revisions?: string;
}

interface Page {
  changes: { id: string; version: number; review: PublicReview | null }[];
  users: { id: string; display_name: string; karma: number }[];
  next: string;
  has_more: boolean;
}

/** Reads what a page has left out. Earlier revisions have times to the second. */
async function complete(url: string, review: PublicReview): Promise<void> {
  const { earlier_revisions: path, revisions } = review;
  if (path === undefined) return;
  delete review.earlier_revisions;
  for (let link = path; link !== ''; ) {
    const response = await fetch(url + link);
    if (response.status !== 200) throw new Error(`${response.status}`);
    const earlier = (await response.json()) as { revisions: PublicReview['revisions'] };
    for (const revision of earlier.revisions) {
      const { review_id: _, ...rest } = revision as typeof revision & { review_id: string };
      revisions.unshift({ ...rest, timestamp: new Date(rest.timestamp).toISOString() });
    }
    const [, query = ''] = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? [];
    link = query && path.replace(/\?.*/, query);
  }
}

// Follows the changes of a service for ever. Takes the file of its state, and a file with the base
// URL, which may change.
const [, script = '', file = '', address = ''] = process.argv;
if (script.endsWith('helpers/mirror.ts')) {
  const mirror = readMirror(file);
  for (;;) {
    try {
      const url = readFileSync(address, 'utf8');
      const query = new URLSearchParams({ since: mirror.since, limit: '20' });
      const response = await fetch(`${url}/changes?${query}`);
      if (response.status === 410) process.exit(1);
      if (response.status !== 200) throw new Error(`${response.status}`);
      const { changes, users, next, has_more } = (await response.json()) as Page;
      for (const { id, version, review } of changes) {
        if (version <= (mirror.versions[id] ?? 0)) continue;
        if (review) await complete(url, review);
        mirror.versions[id] = version;
        if (review) mirror.reviews[id] = JSON.stringify(review);
        else delete mirror.reviews[id];
      }
      for (const { id, ...user } of users) mirror.users[id] = user;
      mirror.since = next;
      if (changes.length > 0) keepMirror(file, mirror);
      if (!has_more) await sleep(100);
    } catch {
      // The service is down or busy.
      await sleep(100);
    }
  }
}
