import { resources, type Template } from './checks.ts';

/** Values of a metric, one a period, the newest last. Undefined is a period without data. */
type Series = readonly (number | undefined)[];
/** Series of an alarm: by the ids of its metrics, or in their order. */
export type Points = readonly Series[] | Readonly<Record<string, Series>>;

/**
 * Returns whether an alarm of the template rings after data points. Evaluates the metric math that
 * we use, and throws on any other.
 */
export function rings(template: Template, alarm: string, given: Points): boolean {
  const [, resource] =
    resources(template, 'AWS::CloudWatch::Alarm').find(([id]) => nameOf(id) === alarm) ?? [];
  if (!resource) throw new Error(`there is no alarm ${alarm}`);
  const {
    EvaluationPeriods: of,
    DatapointsToAlarm: must = of,
    ...properties
  } = resource.Properties;
  const metrics: { Id: string; Expression?: string; ReturnData?: boolean }[] =
    properties.Metrics ?? [{ Id: 'only' }];
  const plain = metrics.filter(({ Expression }) => Expression === undefined);
  const series = Array.isArray(given)
    ? (given as readonly Series[])
    : plain.map(({ Id }) => (given as Record<string, Series>)[Id] ?? []);
  if (plain.length !== series.length) throw new Error(`${alarm} has ${plain.length} metrics`);
  const periods = Math.max(...series.map(({ length }) => length));
  if (periods < of) throw new Error(`${alarm} needs ${of} periods`);

  const isBad = (value: number) => {
    if (Number.isNaN(value)) return properties.TreatMissingData === 'breaching';
    const { ComparisonOperator, Threshold } = properties;
    if (ComparisonOperator === 'GreaterThanThreshold') return value > Threshold;
    if (ComparisonOperator === 'LessThanThreshold') return value < Threshold;
    throw new Error(`${ComparisonOperator} is not known here`);
  };
  const points = Array.from({ length: periods }, (_, at) => {
    const values = new Map(plain.map(({ Id }, i) => [Id, series[i]?.[at] ?? Number.NaN]));
    const lookUp = (id: string): number => {
      const known = values.get(id);
      if (known !== undefined) return known;
      const { Expression } = metrics.find(({ Id }) => Id === id) ?? {};
      if (Expression === undefined) throw new Error(`${id} is no metric`);
      return evaluated(Expression, lookUp);
    };
    return lookUp(metrics.find(({ ReturnData }) => ReturnData !== false)?.Id ?? '');
  });
  return points.slice(-of).filter(isBad).length >= must;
}

/** Returns the name of an alarm by its id. */
const nameOf = (id: string) => id.replace(/^Monitoring|[0-9A-F]{8}$/g, '');

/** Evaluates an expression for one period. A missing value is NaN, and so is what needs it. */
function evaluated(expression: string, lookUp: (id: string) => number): number {
  const tokens = expression.match(/[A-Za-z]\w*|[\d.]+|>=|[-+*/<>()[\],]/g) ?? [];
  const next = (expected?: string): string => {
    const token = tokens.shift() ?? '';
    if (expected && token !== expected)
      throw new Error(`${expression}: ${token} is no ${expected}`);
    return token;
  };
  const isOne = (...operators: string[]) => operators.includes(tokens[0] ?? '');
  const condition = (): number => {
    let result = comparison();
    while (isOne('AND')) {
      next();
      const other = comparison();
      result = result * other;
    }
    return result;
  };
  const comparison = (): number => {
    const left = sum();
    if (!isOne('>', '>=', '<')) return left;
    const operator = next();
    const right = sum();
    if (Number.isNaN(left) || Number.isNaN(right)) return Number.NaN;
    if (operator === '<') return Number(left < right);
    return Number(operator === '>' ? left > right : left >= right);
  };
  const sum = (): number => {
    let result = product();
    while (isOne('+')) {
      next();
      result += product();
    }
    return result;
  };
  const product = (): number => {
    let result = term();
    while (isOne('*', '/')) {
      if (next() === '*') result *= term();
      else result /= term();
    }
    return result;
  };
  const list = (): number[] => {
    next('[');
    const values = [condition()];
    while (isOne(',')) {
      next();
      values.push(condition());
    }
    next(']');
    return values;
  };
  const call = (name: string): number => {
    next('(');
    let result: number;
    if (name === 'MAX') {
      const values = list().filter((value) => !Number.isNaN(value));
      result = values.length > 0 ? Math.max(...values) : Number.NaN;
    } else if (name === 'FILL') {
      const value = condition();
      next(',');
      const fallback = condition();
      result = Number.isNaN(value) ? fallback : value;
    } else if (name === 'IF') {
      const isMet = condition();
      next(',');
      const then = condition();
      next(',');
      const otherwise = condition();
      if (Number.isNaN(isMet)) result = Number.NaN;
      else result = isMet ? then : otherwise;
    } else {
      throw new Error(`${name} is not known here`);
    }
    next(')');
    return result;
  };
  const term = (): number => {
    const token = next();
    if (/^[\d.]+$/.test(token)) return Number(token);
    if (token === '(') {
      const inner = condition();
      next(')');
      return inner;
    }
    return isOne('(') ? call(token) : lookUp(token);
  };
  const result = condition();
  if (tokens.length > 0) throw new Error(`${expression}: ${tokens.join(' ')} follows`);
  return result;
}
