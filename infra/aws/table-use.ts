import { tableDefinition } from '../../shared/table/definition.ts';

/** IAM actions by command. TransactWrite needs those of its parts. No function may Scan. */
const actionsOf: Readonly<Record<string, readonly string[]>> = {
  Get: ['GetItem'],
  BatchGet: ['BatchGetItem'],
  BatchGetItem: ['BatchGetItem'],
  TransactGet: ['GetItem'],
  // Found by its callers, see below.
  Query: [],
  Put: ['PutItem'],
  Update: ['UpdateItem'],
  Delete: ['DeleteItem'],
  BatchWrite: ['BatchWriteItem'],
  TransactWrite: [],
  // Not of DynamoDB. The route table lists the secrets that a route reads.
  GetSecretValue: [],
};

const partsOfTransactWrite = ['Put', 'Update', 'Delete', 'ConditionCheck'];

/** Returns the IAM actions of the code on the table itself. Throws for an unknown command. */
export function actionsIn(code: string): string[] {
  const matches = [...code.matchAll(/\bnew (\w+?)Command\d*\(|\bpaginate([A-Z]\w*?)\d*\(/g)];
  const commands = matches.map(([, command, paged]) => command ?? paged ?? '');
  const actions = commands.flatMap((command) => {
    const needed = actionsOf[command];
    if (!needed) throw new Error(`No function may send the command ${command}`);
    return needed;
  });
  if (commands.includes('TransactWrite')) {
    // A property `Put: …`, or the shorthand `{ Put }`.
    const isWritten = (part: string) => new RegExp(`\\b${part}(: |\\s*[,}])`).test(code);
    const parts = partsOfTransactWrite.filter(isWritten);
    actions.push(...parts.map((part) => `${part}Item`));
  }
  if (/(?<!function\*? )\b(queryItems|countItems)\d*\(/.test(code)) actions.push('Query');
  return [...new Set(actions)].sort();
}

/** Returns the indexes in calls of `queryIndex`. `${scope}-by-${order}` matches all indexes. */
export function indexesIn(code: string): string[] {
  const calls = [...code.matchAll(/(?<!function\* )\bqueryIndex\d*\(\s*(["`][^"`]+["`])?/g)];
  const patterns = calls.map(([call, name]) => {
    if (!name) throw new Error(`queryIndex must be called with the name of an index: ${call}`);
    return new RegExp(`^${name.slice(1, -1).replaceAll(/\$\{\w+\}/g, '\\w+')}$`);
  });
  const names = tableDefinition.indexes.map(({ name }) => name);
  return names.filter((name) => patterns.some((pattern) => pattern.test(name)));
}
