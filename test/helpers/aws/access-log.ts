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

/**
 * Returns whether a filter pattern of CloudWatch Logs matches a line. Supports the JSON syntax that
 * we use, and throws on any other.
 */
export function takes(pattern: string, line: string): boolean {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return false;
  }
  const tokens = pattern.match(/"[^"]*"|%[^%]+%|\$[\w.]+|\d+|&&|\|\||[!<>]=|[{}()=<>]|\S/g) ?? [];
  const next = (expected?: string): string => {
    const token = tokens.shift() ?? '';
    if (expected && token !== expected) throw new Error(`${pattern}: ${token} is no ${expected}`);
    return token;
  };
  const joined = (operator: string, operand: () => boolean): boolean[] => {
    const results = [operand()];
    for (; tokens[0] === operator; results.push(operand())) next();
    return results;
  };
  const any = (): boolean => joined('||', all).some(Boolean);
  const all = (): boolean => joined('&&', one).every(Boolean);
  const within = (open: string, close: string): boolean => {
    next(open);
    const result = any();
    next(close);
    return result;
  };
  const one = (): boolean =>
    tokens[0] === '(' ? within('(', ')') : compare(fieldOf(event, next()), next(), next());
  const result = within('{', '}');
  if (tokens.length > 0) throw new Error(`${pattern}: more follows`);
  return result;
}

/** Returns the value at a selector such as `$.a.b`, or undefined. */
export function fieldOf(event: unknown, selector: string): unknown {
  const [root, ...names] = selector.split('.');
  if (root !== '$') throw new Error(`${selector} is no selector`);
  return names.reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], event);
}

/** A star stands for any text before or after the others. */
function isLike(field: string, text: string): boolean {
  if (text.startsWith('*')) return field.endsWith(text.slice(1));
  return text.endsWith('*') ? field.startsWith(text.slice(0, -1)) : field === text;
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
    const text = operand.slice(1, -1);
    const isEqual = isLike(field, text);
    if (operator === '=') return isEqual;
    if (operator === '!=') return !isEqual;
    throw new Error(`${operator} does not compare texts`);
  }
  if (!/^\d+$/.test(operand)) throw new Error(`${operand} is no value`);
  if (typeof field !== 'number') return false;
  const value = Number(operand);
  if (operator === '=') return field === value;
  if (operator === '!=') return field !== value;
  if (operator === '<') return field < value;
  if (operator === '>=') return field >= value;
  throw new Error(`${operator} is not known here`);
}
