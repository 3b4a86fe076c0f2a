import type { Change, Condition, Test, Update } from './write.ts';

// Conditions and updates as DynamoDB takes them: as expressions.

/** Thrown instead of sending an expression that DynamoDB refuses. The guides tell what to do. */
export class ExpressionTooLong extends Error {
  override readonly name = 'ExpressionTooLong';
}

/** Maximum of bytes of an expression. */
const maxBytes = 4096;

/** Placeholders for all names and values, because DynamoDB reserves some names. */
class Placeholders {
  readonly names: Record<string, string> = {};
  readonly values: Record<string, unknown> = {};

  name(attribute: string): string {
    return placeholder(this.names, '#at', attribute);
  }

  value(content: unknown): string {
    return placeholder(this.values, ':at', content);
  }
}

function placeholder<T>(all: Record<string, T>, prefix: string, content: T): string {
  const name = `${prefix}${Object.keys(all).length}`;
  all[name] = content;
  return name;
}

/** Returns a put, deletion or check with its condition. Throws `ExpressionTooLong`. */
export function conditional<T extends Condition>({ was, where, ...action }: T) {
  const placeholders = new Placeholders();
  const ConditionExpression = conditionExpression({ was, where }, placeholders);
  return request({ ...action, ConditionExpression }, placeholders);
}

/** Returns an update with its expressions. Throws `ExpressionTooLong`. */
export function updateInput({ Key, was, where, ...change }: Update) {
  const placeholders = new Placeholders();
  const ConditionExpression = conditionExpression({ was, where }, placeholders);
  const UpdateExpression = updateExpression(change, placeholders);
  return request({ Key, ConditionExpression, UpdateExpression }, placeholders);
}

/** Adds the placeholders to expressions, without what is empty: DynamoDB refuses it. */
function request<T extends object>(expressions: T, { names, values }: Placeholders) {
  const all = {
    ...expressions,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
  for (const [name, part] of Object.entries(all)) {
    if (typeof part === 'string' && name.endsWith('Expression')) checkLength(name, part);
  }
  const isEmpty = (part: object | string) => Object.keys(part).length === 0;
  return Object.fromEntries(Object.entries(all).filter(([, part]) => !isEmpty(part))) as typeof all;
}

function checkLength(name: string, expression: string): void {
  const bytes = Buffer.byteLength(expression);
  if (bytes <= maxBytes) return;
  throw new ExpressionTooLong(`${name} has ${bytes} bytes, and DynamoDB takes ${maxBytes}`);
}

function conditionExpression({ was = {}, where = [] }: Condition, all: Placeholders): string {
  const expected = Object.entries(was).map(([attribute, before]): Test[] =>
    before === undefined ? [[attribute, 'absent']] : [[attribute, '=', before]],
  );
  const terms = [...expected.flat(), ...where].map((test) => term(test, all));
  // DynamoDB refuses redundant parentheses.
  const [only = ''] = terms;
  return terms.length === 1 && only.startsWith('(') ? only.slice(1, -1) : terms.join(' AND ');
}

function term(test: Test, all: Placeholders): string {
  if ('any' in test) {
    const lists = test.any.map((where) => {
      const terms = where.map((each) => term(each, all));
      return terms.length === 1 ? terms[0] : `(${terms.join(' AND ')})`;
    });
    return `(${lists.join(' OR ')})`;
  }
  const [attribute, is, value] = test;
  const name = all.name(attribute);
  if (is === 'present') return `attribute_exists(${name})`;
  if (is === 'absent') return `attribute_not_exists(${name})`;
  if (is === 'text') return `attribute_type(${name}, ${all.value('S')})`;
  return `${name} ${is} ${all.value(value)}`;
}

function updateExpression(
  { set = {}, begin = {}, amounts = {}, isOwner }: Change,
  all: Placeholders,
): string {
  const clauses: Record<'SET' | 'REMOVE' | 'ADD', string[]> = { SET: [], REMOVE: [], ADD: [] };
  for (const [attribute, after] of Object.entries(set)) {
    const name = all.name(attribute);
    if (after === undefined) clauses.REMOVE.push(name);
    else clauses.SET.push(`${name} = ${all.value(after)}`);
  }
  for (const [attribute, first] of Object.entries(begin)) {
    const name = all.name(attribute);
    clauses.SET.push(`${name} = if_not_exists(${name}, ${all.value(first)})`);
  }
  if (isOwner) {
    const first = all.value(Date.now());
    clauses.SET.push(`version = if_not_exists(version, ${first}) + ${all.value(1)}`);
  }
  for (const [attribute, by] of Object.entries(amounts)) {
    clauses.ADD.push(`${all.name(attribute)} ${all.value(by)}`);
  }
  const changes = Object.entries(clauses).filter(([, terms]) => terms.length > 0);
  return changes.map(([verb, terms]) => `${verb} ${terms.join(', ')}`).join(' ');
}
