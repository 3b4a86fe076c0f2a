import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Route, routes } from '../../shared/base/routes.ts';
import { methodsOf, resourceOf } from '../../shared/core/http/match-route.ts';
import { fileOf, operations } from '../functions.ts';
import { budgetOf } from '../route-load.ts';
import { activityOf } from './activities.ts';
import { functionGroups } from './function-groups.ts';

// The modules that Lambdas run: of an operation, or of all pages that share a Lambda.

export const root = fileURLToPath(new URL('../..', import.meta.url));

const groups = functionGroups(routes);

/** Pages that share a Lambda with others, by its name. */
export const sharedPages: ReadonlyMap<string, readonly Route[]> = new Map(
  groups.filter((group) => group.routes.length > 1).map((group) => [group.name, group.routes]),
);

/** The only operation of a group, or its first one. */
const firsts = new Map(groups.map(({ name, routes: [first] }) => [name, first?.operation]));

const served = new Set(routes.map(({ operation }) => operation));

/** Names of all Lambdas: of groups, and of operations without a route. */
export const lambdaNames: readonly string[] = [
  ...operations.filter((operation) => !served.has(operation)),
  ...groups.map(({ name }) => name),
];

/** Writes modules into a folder, runs `use` on it, and deletes it. */
export async function withEntries<T>(
  names: readonly string[],
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'entries-'));
  const write = (name: string, code: string) => writeFileSync(join(folder, `${name}.js`), code);
  for (const name of names) {
    const pages = sharedPages.get(name);
    for (const { operation } of pages ?? []) write(operation, entryOf(operation));
    write(name, pages ? sharedEntryOf(pages) : entryOf(firsts.get(name) ?? name));
  }
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Returns the module of an operation. It runs the handler as the operation, which metrics name, and
 * that of a route within its budget. A call that keeps the function warm runs nothing. Other
 * exports, such as texts for documents, are left out.
 */
function entryOf(name: string): string {
  const file = JSON.stringify(fileOf(name));
  const route = routes.find((each) => each.operation === name);
  const budget = route && budgetOf(route);
  const operation = JSON.stringify({ name, activity: route && activityOf(route) });
  const [runner, path] = budget
    ? ['withinBudget', 'shared/base/table/budget.ts']
    : ['runAs', 'shared/base/operation.ts'];
  const limits = budget ? `${operation}, ${JSON.stringify(budget)}` : operation;
  return `import { handler as handle } from ${file};
import { ${runner} } from ${moduleOf(path)};
export const handler = async (event, context) => {
  if (event.isWarmUp) return;
  return ${runner}(${limits}, () => handle(event, context));
};
`;
}

/**
 * Returns the module of pages that share a Lambda. It loads the code of the page that is asked for,
 * and of all pages to keep warm. The client of the table, if they use it, comes before, because
 * Lambda imports at full speed.
 */
function sharedEntryOf(pages: readonly Route[]): string {
  const loads = pages.flatMap((page) =>
    methodsOf(page).map(
      (method) => `  '${method} ${resourceOf(page)}': () => import('./${page.operation}.js'),`,
    ),
  );
  const usesTable = pages.some(({ table }) => table !== 'none');
  const client = usesTable
    ? `export { table } from ${moduleOf('shared/base/table/client.ts')};\n`
    : '';
  return `${client}const pages = {
${loads.join('\n')}
};
export const handler = async (event, context) => {
  if (event.isWarmUp) return void (await Promise.all(Object.values(pages).map((load) => load())));
  const page = await pages[event.httpMethod + ' ' + event.resource]();
  return page.handler(event, context);
};
`;
}

const moduleOf = (path: string) => JSON.stringify(join(root, path));
