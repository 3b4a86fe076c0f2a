import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

// Restarts `npm start` on each save. Node's --watch loses track of a file that could not be parsed
// (nodejs/node#61153).

/** In milliseconds. An editor touches a file several times, and a checkout changes many files. */
const quiet = 200;

let service: ChildProcess | undefined;
let watchers: FSWatcher[] = [];
let isEnding = false;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    isEnding = true;
    if (!service?.kill(signal)) process.exit();
  });
}

for (;;) {
  // Watching begins before the code is read, so that no save is missed.
  const saved = nextSave();
  const args = [...process.execArgv, 'bin/start.ts', ...process.argv.slice(2)];
  service = spawn(process.execPath, args, { stdio: 'inherit' });
  service.on('exit', (code) => {
    if (isEnding) process.exit(code ?? 1);
    if (code !== null && code > 0) console.error('The service restarts at the next save.');
  });
  await saved;
  if (service.kill()) await once(service, 'exit');
}

/** Resolves after a save. Folders are watched instead of files, because editors replace files. */
function nextSave(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const earlier = watchers;
  watchers = ['bin', 'functions', 'infra', 'shared'].flatMap(withFolders).map((folder) =>
    watch(folder, (_, name) => {
      // Editors write temporary files with these names.
      if (/^\.|~$/.test(name ?? '')) return;
      clearTimeout(timer);
      timer = setTimeout(resolve, quiet);
    }),
  );
  for (const watcher of earlier) watcher.close();
  return promise;
}

function withFolders(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  return [folder, ...folders.map(({ parentPath, name }) => join(parentPath, name))];
}
