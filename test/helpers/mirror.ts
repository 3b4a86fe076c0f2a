import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * State of a mirror: how far it has followed, and by id every public review as one line, the
 * highest version that was told of it, and what is known of people.
 */
export interface Mirror {
  since: string;
  reviews: Record<string, string>;
  versions: Record<string, number>;
  users: Record<string, { display_name: string; karma: number }>;
}

/** Reads what a mirror has kept. */
export function readMirror(file: string): Mirror {
  return JSON.parse(readFileSync(file, 'utf8')) as Mirror;
}

/** Keeps all of it or nothing, wherever the process is killed. */
export function keepMirror(file: string, mirror: Mirror): void {
  writeFileSync(`${file}.new`, JSON.stringify(mirror));
  renameSync(`${file}.new`, file);
}

interface Page {
  changes: { id: string; version: number; review: object | null }[];
  users: { id: string; display_name: string; karma: number }[];
  next: string;
  has_more: boolean;
}

// A process that follows the changes of a service for good: the file that it keeps, and a file with the base URL, which may change.
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
        mirror.versions[id] = version;
        if (review) mirror.reviews[id] = JSON.stringify(review);
        else delete mirror.reviews[id];
      }
      for (const { id, ...user } of users) mirror.users[id] = user;
      mirror.since = next;
      if (changes.length > 0) keepMirror(file, mirror);
      if (!has_more) await sleep(100);
    } catch {
      // The service is away, or busy.
      await sleep(100);
    }
  }
}
