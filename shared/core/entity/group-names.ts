import { databases } from './databases.ts';

const names = [...Object.keys(databases), 'own'];

/**
 * Reads `SHOWN_GROUPS`, names separated by commas. Throws a sentence for the operator. It needs no
 * types, because a start checks its settings before the types of this service are known.
 */
export function readGroups(text: string): string[] {
  const groups = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const other = groups.find((name) => !names.includes(name));
  if (other === undefined) return groups;
  throw new Error(`SHOWN_GROUPS: ${other} must be one of ${names.join(', ')}`);
}
