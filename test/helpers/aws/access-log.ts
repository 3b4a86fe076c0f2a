import { isLike } from './roles.ts';

/** Returns the line that API Gateway writes. A variable that is not set is printed as a hyphen. */
export function accessLine(format: string, context: Readonly<Record<string, string>>): string {
  return format.replace(/\$context\.([\w.]+)/g, (_, name) => context[name] ?? '-');
}

/** Returns the line that Lambda's JSON logging writes for `console.error(message)`, or `info`. */
export function functionLine(
  message: unknown,
  level: 'ERROR' | 'INFO' = 'ERROR',
  requestId = 'c3b8b4a5-3a5c-4d0c-9d0a-6c2a2c1f7c11',
): string {
  return JSON.stringify({ timestamp: '2026-11-21T00:00:00.000Z', level, requestId, message });
}

const comparison = /(\$[\w.]+) (=|!=|<|>=) ("[^"]*"|%[^%]+%|\d+)/g;

/**
 * Returns whether a filter pattern of CloudWatch Logs matches a line. Supports the JSON syntax that
 * we use, and throws on any other.
 */
export function takes(pattern: string, line: string): boolean {
  if (!line.startsWith('{')) return false;
  const event = JSON.parse(line);
  const condition = pattern.replaceAll(
    comparison,
    (_, selector: string, operator: string, operand: string) =>
      `${compare(fieldOf(event, selector), operator, operand)}`,
  );
  if (!/^\{( |\(|\)|&&|\|\||true|false)+\}$/.test(condition)) {
    throw new Error(`${pattern} is not known here: ${condition}`);
  }
  return new Function(`return ${condition.slice(1, -1)}`)();
}

/** Returns the value at a selector such as `$.a.b`, or undefined. */
export function fieldOf(event: unknown, selector: string): unknown {
  const [root, ...names] = selector.split('.');
  if (root !== '$') throw new Error(`${selector} is no selector`);
  return names.reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], event);
}

/** A field that is missing or of another type is neither equal nor unequal. */
function compare(field: unknown, operator: string, operand: string): boolean {
  if (operand.startsWith('%')) {
    // CloudWatch Logs has no groups, and knows few other signs.
    if (operator !== '=' || !/^%[\w^$?[\]{}|\\*+.-]+%$/.test(operand)) {
      throw new Error(`${operator} ${operand} is no regular expression here`);
    }
    return typeof field === 'string' && new RegExp(operand.slice(1, -1)).test(field);
  }
  if (operand.startsWith('"')) {
    if (typeof field !== 'string') return false;
    const isEqual = isLike(field, operand.slice(1, -1));
    if (operator === '=') return isEqual;
    if (operator === '!=') return !isEqual;
    throw new Error(`${operator} does not compare texts`);
  }
  if (typeof field !== 'number') return false;
  const value = Number(operand);
  if (operator === '=') return field === value;
  if (operator === '!=') return field !== value;
  return operator === '<' ? field < value : field >= value;
}
