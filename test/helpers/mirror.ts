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

interface Page {
  changes: { id: string; version: number; review: object | null }[];
  users: { id: string; display_name: string; karma: number }[];
  next: string;
  has_more: boolean;
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
