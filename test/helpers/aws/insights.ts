import { fieldOf } from './access-log.ts';

type Row = Record<string, unknown>;

/** A line of a log, with the name of its log group. */
export interface LogLine {
  log: string;
  line: string;
}

/**
 * Runs a query of CloudWatch Logs Insights on lines of JSON. Supports the commands that our saved
 * queries use. Throws on any other, and on a field that no line has.
 */
export function queried(query: string, lines: readonly LogLine[]): Row[] {
  const events = lines.map(({ log, line }, i) => ({
    ...(JSON.parse(line) as Row),
    '@log': log,
    '@message': line,
    '@timestamp': i,
  }));
  const aliases = new Set<string>();
  const lookUp = (row: Row, name: string): unknown => {
    if (aliases.has(name)) return row[name];
    if (!events.some((event) => read(event, name) !== undefined)) {
      throw new Error(`no line has the field ${name}`);
    }
    return read(row, name);
  };
  let rows: Row[] = events;
  for (const command of query.split('\n| ')) {
    const [, verb = '', rest = ''] = /^(\w+) (.*)$/.exec(command) ?? [];
    if (verb === 'fields') {
      const names = rest.split(', ');
      rows = rows.map((row) => ({
        ...row,
        ...Object.fromEntries(names.map((name) => [name, lookUp(row, name)])),
      }));
    } else if (verb === 'filter') {
      rows = rows.filter((row) => isTrue(rest, (name) => lookUp(row, name)));
    } else if (verb === 'stats') {
      rows = counted(rest, rows, lookUp);
      for (const row of rows) for (const name of Object.keys(row)) aliases.add(name);
    } else if (verb === 'sort') {
      const [name = '', order = 'asc'] = rest.split(' ');
      const sign = order === 'desc' ? -1 : 1;
      rows = rows.toSorted((a, b) => sign * (Number(lookUp(a, name)) - Number(lookUp(b, name))));
    } else {
      throw new Error(`${command} is not known here`);
    }
  }
  return rows;
}

function read(row: Row, name: string): unknown {
  return name.startsWith('@') ? row[name] : fieldOf(row, `$.${name}`);
}

/** Aggregates rows: `<function>(<field>) as <alias>, … by <field>, …`. */
function counted(
  rest: string,
  rows: readonly Row[],
  lookUp: (row: Row, name: string) => unknown,
): Row[] {
  const [functions = '', names = ''] = rest.split(' by ');
  const keys = names.split(', ');
  const keyOf = (row: Row) =>
    Object.fromEntries(
      keys.map((name) => [name, name === 'bin(5m)' ? 0 : lookUp(row, name)] as const),
    );
  const groups = Map.groupBy(rows, (row) => JSON.stringify(keyOf(row)));
  return [...groups.values()].map((group) => {
    const result: Row = keyOf(group[0] as Row);
    for (const each of functions.split(/, (?=\w+\()/)) {
      const [, name, of = '', alias = ''] = /^(\w+)\(([^)]*)\) as (\w+)$/.exec(each) ?? [];
      const [field = '', percent = ''] = of.split(', ');
      if (name === 'count' && of === '*') {
        result[alias] = group.length;
        continue;
      }
      const values = group.map((row) => Number(lookUp(row, field))).sort((a, b) => a - b);
      if (name === 'max') result[alias] = values.at(-1);
      else if (name === 'pct') {
        result[alias] = values[Math.ceil((Number(percent) / 100) * values.length) - 1];
      } else throw new Error(`${each} is not known here`);
    }
    return result;
  });
}

/** Evaluates a condition. A comparison with a field that the line lacks is false. */
function isTrue(condition: string, lookUp: (name: string) => unknown): boolean {
  const tokens = condition.match(/"[^"]*"|[@\w.]+|[!<>]=|[()=<>]/g) ?? [];
  const next = () => tokens.shift() ?? '';
  const any = (): boolean => {
    let result = all();
    while (tokens[0] === 'or') {
      next();
      const other = all();
      result ||= other;
    }
    return result;
  };
  const all = (): boolean => {
    let result = one();
    while (tokens[0] === 'and') {
      next();
      const other = one();
      result &&= other;
    }
    return result;
  };
  const one = (): boolean => {
    const token = next();
    if (token === 'not') return !one();
    if (token === '(') {
      const result = any();
      next();
      return result;
    }
    if (token === 'ispresent') {
      next();
      const isPresent = lookUp(next()) !== undefined;
      next();
      return isPresent;
    }
    return compare(lookUp(token), next(), next());
  };
  const result = any();
  if (tokens.length > 0) throw new Error(`${condition}: ${tokens.join(' ')} follows`);
  return result;
}

function compare(value: unknown, operator: string, operand: string): boolean {
  if (value === undefined) return false;
  if (operand.startsWith('"')) {
    const text = operand.slice(1, -1);
    if (operator === '=') return value === text;
    if (operator === '!=') return value !== text;
    if (operator === 'like') return `${value}`.includes(text);
    throw new Error(`${operator} does not compare texts here`);
  }
  if (!/^\d+$/.test(operand)) throw new Error(`${operand} is no value`);
  const number = Number(value);
  const limit = Number(operand);
  if (operator === '=') return number === limit;
  if (operator === '>=') return number >= limit;
  if (operator === '<') return number < limit;
  throw new Error(`${operator} does not compare numbers here`);
}
