import { tableDefinition } from '../../shared/table/definition.ts';

/** The actions of commands; those of TransactWrite are its parts, and of Query the callers tell. No function is ever allowed to Scan. */
const actionsOf: Readonly<Record<string, readonly string[]>> = {
  Get: ['GetItem'],
  BatchGet: ['BatchGetItem'],
  TransactGet: ['GetItem'],
  Query: [],
  Put: ['PutItem'],
  Update: ['UpdateItem'],
  Delete: ['DeleteItem'],
  BatchWrite: ['BatchWriteItem'],
  TransactWrite: [],
  // Not of DynamoDB: the route table says who reads which secret.
  GetSecretValue: [],
};

const actionOfPart = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};

/** What the code does to the table itself, in the words of IAM. Throws where it sends a command that no right is known for. */
export function actionsIn(code: string): string[] {
  const sent = [...code.matchAll(/\bnew (\w+?)Command\d*\(|\bpaginate([A-Z]\w*?)\d*\(/g)];
  const commands = sent.map(([, command, paged]) => command ?? paged ?? '');
  const actions = commands.flatMap((command) => {
    const known = actionsOf[command];
    if (!known) throw new Error(`No function has a right to ${command}`);
    return known;
  });
  if (commands.includes('TransactWrite')) {
    for (const [part, action] of Object.entries(actionOfPart)) {
      if (new RegExp(`\\b${part}: `).test(code)) actions.push(action);
    }
  }
  if (/(?<!function\*? )\b(queryItems|countItems)\d*\(/.test(code)) actions.push('Query');
  return [...new Set(actions)].sort();
}

/** The indexes that the code queries, by how it calls `queryIndex`: where it says `${scope}-by-${order}`, all of them. */
export function indexesIn(code: string): string[] {
  const calls = [...code.matchAll(/(?<!function\* )\bqueryIndex\d*\(\s*(["`][^"`]+["`])?/g)];
  const patterns = calls.map(([call, name]) => {
    if (!name) throw new Error(`queryIndex must be called with the name of an index: ${call}`);
    return new RegExp(`^${name.slice(1, -1).replaceAll(/\$\{\w+\}/g, '\\w+')}$`);
  });
  const names = tableDefinition.indexes.map(({ name }) => name);
  return names.filter((name) => patterns.some((pattern) => pattern.test(name)));
}
