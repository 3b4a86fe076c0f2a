import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutDoors } from '../../../infra/aws/doors.ts';
import { newFolder } from '../../helpers/folder.ts';

const folder = newFolder();
writeFileSync(
  join(folder, 'public.ts'),
  `// A room.
export { type Thing, findThing } from './find.ts';
export {
  listThings,
} from './pages/list.ts';
export type { Sort } from './sort.ts';
export * as presented from './presented.ts';
`,
);

test.each([
  [
    "import { findThing, type Thing } from './public.ts';",
    "import { findThing } from './find.ts'; import { type Thing } from './find.ts';",
  ],
  [
    "import {\n  listThings,\n  presented,\n} from './public.ts';",
    "import { listThings } from './pages/list.ts'; import { presented } from './public.ts';",
  ],
  [
    "import { listThings as list } from './public.ts';",
    "import { listThings as list } from './pages/list.ts';",
  ],
  ["import type { Sort } from './public.ts';", "import type { Sort } from './sort.ts';"],
  ["import { findThing } from './find.ts';", "import { findThing } from './find.ts';"],
])('%j comes from behind the door', (code, direct) => {
  const tidy = withoutDoors(`${code}\nconst a = 1;`, folder).replaceAll("'././", "'./");
  expect(tidy).toBe(`${direct}\nconst a = 1;`);
});
