import { resources, type Template } from './checks.ts';

/** Values of a metric, one a period, the newest last. Undefined is a period without data. */
export type Series = readonly (number | undefined)[];

/**
 * Returns whether an alarm of the template rings after data points, with a series for each metric.
 * Evaluates the metric math that we use, and throws on any other.
 */
export function rings(template: Template, alarm: string, series: readonly Series[]): boolean {
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

/**
 * Evaluates an expression for one period. A missing value is NaN, which is neither above nor below
 * anything. Throws on a function that is not known here.
 */
function evaluated(expression: string, lookUp: (id: string) => number): number {
  const functions = {
    IF: (isMet: boolean, then: number, otherwise: number) => (isMet ? then : otherwise),
    FILL: (value: number, other: number) => (Number.isNaN(value) ? other : value),
    MAX: (values: number[]) => {
      const present = values.filter((value) => !Number.isNaN(value));
      return present.length > 0 ? Math.max(...present) : Number.NaN;
    },
  };
  const ids = [...new Set(expression.match(/\b[a-z]\w*/g))];
  const code = `return ${expression.replaceAll(' AND ', ' && ')}`;
  const evaluate = new Function(...Object.keys(functions), ...ids, code);
  return evaluate(...Object.values(functions), ...ids.map(lookUp));
}
