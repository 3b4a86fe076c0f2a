import { openAsBlob, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReviewClient } from '../../infra/client/client.ts';
import { Mirror, type MirrorState } from '../../infra/client/mirror.ts';

/** Reads the state of a mirror. */
export function readMirror(file: string): MirrorState {
  return JSON.parse(readFileSync(file, 'utf8')) as MirrorState;
}

/** Writes the whole state or nothing, even if the process is killed. */
export function keepMirror(file: string, mirror: Mirror): void {
  writeFileSync(`${file}.new`, JSON.stringify(mirror.state));
  renameSync(`${file}.new`, file);
}

/** Begins a mirror with a public dump. */
export async function mirrorOf(dump: string, url: string): Promise<Mirror> {
  const mirror = new Mirror(new ReviewClient(url));
  const files = readdirSync(dump).map(async (name) => [name, await openAsBlob(join(dump, name))]);
  await mirror.begin(Object.fromEntries(await Promise.all(files)));
  return mirror;
}

// Follows the changes of a service for ever. Takes the file of its state, and a file with the base
// URL, which may change.
const [, script = '', file = '', address = ''] = process.argv;
if (script.endsWith('helpers/mirror.ts')) {
  for (;;) {
    try {
      const url = readFileSync(address, 'utf8');
      const api = new ReviewClient(url, { attempts: 1 });
      const mirror = new Mirror(api, readMirror(file));
      await mirror.update();
      keepMirror(file, mirror);
    } catch {
      // The service is down or busy.
    }
    await sleep(100);
  }
}
