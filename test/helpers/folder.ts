import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';

/** Makes an empty folder. It is removed at the end of the run. */
export const newFolder = () => mkdtempSync(join(process.env.RUN_FOLDER ?? '', 'folder-'));
