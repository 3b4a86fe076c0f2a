// Files of reviews that people bring from other sites.
export { advanceFile } from './advance.ts';
export { FilePath } from './brought-file.ts';
export { beginTask, Decision } from './decide.ts';
export { followed, kinds } from './kinds.ts';
export { ownLists } from './own-data.ts';
export { filePage, findOwnFile } from './pages/file-page.ts';
export { filesPage, filesUrl } from './pages/files-page.ts';
export { ownSchemas } from './presented.ts';
export { readSentTable } from './sent-table.ts';
export { takeFile } from './take-file.ts';
