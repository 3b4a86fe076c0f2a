import { groupOf } from '../../../infra/aws/function-groups.ts';
import type { TableUse } from '../../../infra/aws/table-access.ts';
import { type Route, routes } from '../../../shared/base/routes.ts';
import { consumers, schedulesOf } from '../../../shared/features/background.ts';

/** The parts of a CloudFormation template that the checks read. */
export interface Template {
  Resources: Record<string, Resource>;
  Parameters?: Record<string, unknown>;
  Rules?: unknown;
  Outputs?: Record<string, { Value: unknown }>;
}
// biome-ignore lint/suspicious/noExplicitAny: the content of a resource depends on its type.
type Resource = { Type: string; Properties: any; [key: string]: any };

/** Merges the resources of nested stacks into the template around them, by their ids there. */
export function merged(outer: Template, nested: Readonly<Record<string, Template>>): Template {
  const inlined = (value: unknown, parameters: Record<string, unknown> = {}): unknown => {
    if (Array.isArray(value)) return value.map((each) => inlined(each, parameters));
    if (typeof value !== 'object' || value === null) return value;
    const { Ref, 'Fn::GetAtt': [of = '', attribute = ''] = [] } = value as Record<string, string[]>;
    const output = nested[of]?.Outputs?.[attribute.replace(/^Outputs\./, '')];
    if (output) return inlined(output.Value, parametersOf(of));
    if (typeof Ref === 'string' && Ref in parameters) return inlined(parameters[Ref]);
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, inlined(inner, parameters)]),
    );
  };
  const parametersOf = (id: string) => outer.Resources[id]?.Properties.Parameters ?? {};
  const Resources: Template['Resources'] = {};
  for (const [id, resource] of Object.entries(outer.Resources)) {
    const part = nested[id];
    const own = part ? part.Resources : { [id]: resource };
    const parameters = part ? parametersOf(id) : {};
    for (const [inner, { ...each }] of Object.entries(own)) {
      // The parts of a stack that is merged are no resources of their own any more.
      if (each.DependsOn) each.DependsOn = [each.DependsOn].flat().filter((of) => !nested[of]);
      Resources[inner] = inlined(each, parameters) as Resource;
    }
  }
  return { ...(inlined({ ...outer, Resources: {} }) as Template), Resources };
}

/** The declaration of every function, also of one that serves no route. */
export const declarations: readonly (TableUse & Pick<Route, 'operation'>)[] = [
  ...routes,
  ...consumers,
  ...schedulesOf({ isMailing: true }),
  { operation: 'authorizer', table: 'public', secrets: ['SIGNING_KEYS'] },
  { operation: 'no-route', table: 'none' },
];

/** Returns the resources of one type, by logical id. */
export function resources({ Resources }: Template, type: string): [string, Resource][] {
  return Object.entries(Resources).filter(([, { Type }]) => Type === type);
}

/** Returns the properties of the resources of one type. */
export function propertiesOf(template: Template, type: string): Resource['Properties'][] {
  return resources(template, type).map(([, { Properties }]) => Properties);
}

/** Returns the only resource of a type, with its logical id. */
export function theOne(template: Template, type: string): [string, Resource] {
  const [found, ...others] = resources(template, type);
  if (!found || others.length > 0) throw new Error(`${type}: one is expected`);
  return found;
}

/** Returns the properties of the only resource of a type. */
export function only(template: Template, type: string): Resource['Properties'] {
  return theOne(template, type)[1].Properties;
}

/** Returns the name of the function of an operation. Pages with the same rights share one. */
export function functionNameOf(operation: string): string {
  const route = routes.find((each) => each.operation === operation);
  return route ? groupOf(route) : operation;
}

/** The names of all functions. */
const functionNames = [...new Set(declarations.map(({ operation }) => functionNameOf(operation)))];

/** Returns the functions with their names: operations, or groups of pages. */
export function functions(template: Template): [string, Resource][] {
  return resources(template, 'AWS::Lambda::Function').map(([id, resource]) => {
    const name = functionNames.find((each) => isOf(each, id));
    return [name ?? `? ${id}`, resource];
  });
}

/** Returns the environment of the function of an operation. */
export function variables(template: Template, operation: string): Record<string, unknown> {
  const found = functions(template).find(([name]) => name === functionNameOf(operation))?.[1];
  return found?.Properties.Environment.Variables;
}

/** Tests if a resource belongs to the function of a name. CDK omits hyphens in ids. */
export function isOf(functionName: string, logicalId: string): boolean {
  const name = functionName.replaceAll('-', '');
  return new RegExp(`^(Background)?${name}(Function|Role|Stream)`).test(logicalId);
}

/** Returns the statements of the policies on queues or topics, by the ids of these. */
export function policiesOn(template: Template, type: 'AWS::SQS::Queue' | 'AWS::SNS::Topic') {
  const all = propertiesOf(template, `${type}Policy`).flatMap(
    ({ PolicyDocument }) => PolicyDocument.Statement as Statement[],
  );
  return resources(template, type).map(([id]) =>
    all.filter((statement) => references(statement.Resource).includes(id)),
  );
}

/** The metrics of an alarm, its periods, and whom it tells. */
export interface Watch {
  /**
   * `namespace name statistic`, then `of` an operation, a route or an index. Metrics of the API and
   * the table omit `of`.
   */
  metrics: string[];
  /** Periods that must breach, of how many, and their length in seconds. */
  within: string;
  /** The topic that hears when it rings and when it ends, unless it is a part of another alarm. */
  tells?: string;
}

/** Returns all alarms, by their ids in their stack. */
export function alarms(template: Template): Record<string, Watch> {
  return Object.fromEntries(
    resources(template, 'AWS::CloudWatch::Alarm').map(([id, { Properties }]) => {
      const { EvaluationPeriods: of, DatapointsToAlarm: must = of, ...alarm } = Properties;
      const all = alarm.Metrics ?? [
        {
          MetricStat: {
            Metric: alarm,
            Period: alarm.Period,
            Stat: alarm.Statistic ?? alarm.ExtendedStatistic,
          },
        },
      ];
      const stats = all.flatMap(({ MetricStat }: Resource) => MetricStat ?? []);
      return [
        id.replace(/^Monitoring|[0-9A-F]{8}$/g, ''),
        {
          metrics: stats.map(
            ({ Metric, Stat }: Resource) =>
              `${Metric.Namespace} ${Metric.MetricName} ${Stat}${dimensionOf(template, Metric)}`,
          ),
          within: `${must} of ${of} × ${[...new Set(stats.map(({ Period }: Resource) => Period))]} s`,
          ...toldBy(Properties),
        },
      ];
    }),
  );
}

/** Returns the topic that an alarm tells of its beginning and its end, which must be the same. */
export function toldBy({ AlarmActions = [], OKActions = [] }: Resource['Properties']) {
  const nameOf = ({ Ref }: { Ref: string }) => Ref.replace(/^Monitoring|[0-9A-F]{8}$/g, '');
  const [begins, ends] = [AlarmActions, OKActions].map((actions) => actions.map(nameOf).join());
  if (begins !== ends) throw new Error(`${begins} hears of the beginning, ${ends} of the end`);
  return begins === '' ? {} : { tells: begins };
}

function dimensionOf(template: Template, { Dimensions = [] }: Resource['Properties']): string {
  const values = Dimensions.flatMap(
    ({ Name, Value }: { Name: string; Value: string | { Ref: string } }) => {
      if (Name === 'ApiName' || Name === 'TableName' || Name === 'QueueName') return [];
      if (typeof Value === 'string') return [Value];
      if (Name !== 'FunctionName') return [Name];
      const found = functions(template).find(([, of]) => of === template.Resources[Value.Ref]);
      return [found?.[0]];
    },
  );
  return values.length > 0 ? ` of ${values}` : '';
}

/** Returns the metrics that a log event adds to, each with the value of its dimension. */
export function countedBy(
  template: Template,
  logGroup: RegExp,
  takes: (pattern: string) => boolean,
): string[] {
  return propertiesOf(template, 'AWS::Logs::MetricFilter')
    .filter(({ LogGroupName }) => logGroup.test(LogGroupName.Ref))
    .filter(({ FilterPattern }) => takes(FilterPattern))
    .flatMap(({ MetricTransformations }) => MetricTransformations)
    .map(({ MetricName, MetricValue, Dimensions = [] }) =>
      [`${MetricValue} ${MetricName}`, ...Dimensions.map(({ Value }: Resource) => Value)].join(
        ' by ',
      ),
    );
}

/** Lists environment variables that the code reads, and that a function does not have. */
export function missingVariables(template: Template, code: string): string[] {
  const read = [...code.matchAll(/process\.env\.([A-Z]\w+)/g)].map(([, name]) => `${name}`);
  // Set only if the identity provider does not publish its sign-out address, or is our own. The
  // ranges of an intranet, a mail server and keys are set only on a server.
  const others = /^((AWS|NODE)_|OIDC_(LOGOUT|LOCAL)_URL$|WEBHOOK_ALLOW$|SMTP_URL$)/;
  const needed = [...new Set(read)].filter((name) => !others.test(name));
  return functions(template).flatMap(([operation, { Properties }]) => {
    const set = Object.keys(Properties.Environment?.Variables ?? {});
    return needed.filter((name) => !set.includes(name)).map((name) => `${operation}: ${name}`);
  });
}

/** Returns the statements of each function's role, by the name of the function. */
export function rolesOf(template: Template): Map<string, Statement[]> {
  const all = statements(template);
  return new Map(
    functions(template).map(([name, { Properties }]) => {
      const [role] = Properties.Role['Fn::GetAtt'];
      return [name, all.filter(({ id }) => id === role)];
    }),
  );
}

/** A statement of a policy. */
export interface Statement {
  /** Id of the role. */
  id: string;
  Effect: string;
  Action: unknown;
  Resource: unknown;
  Principal?: unknown;
  Condition?: Record<string, Record<string, unknown>>;
}

/** Returns the statements of all roles. */
export function statements(template: Template): Statement[] {
  const roles = resources(template, 'AWS::IAM::Role').flatMap(([id, { Properties }]) =>
    (Properties.Policies ?? []).map((policy: Resource['Properties']) => [id, policy]),
  );
  const policies = ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy']
    .flatMap((type) => propertiesOf(template, type))
    .map((policy) => [policy.Roles.map(({ Ref }: { Ref: string }) => Ref).join(), policy]);
  return [...roles, ...policies].flatMap(([id, { PolicyDocument }]) =>
    PolicyDocument.Statement.map((statement: Statement) => ({ ...statement, id })),
  );
}

/** Returns what a statement is on: `table`, `table/index/*`, `stream`, a secret, or its text. */
export function resourceIn(expression: unknown): string {
  const text = textOf(expression);
  const [, secret] = /(Signing|Session|Webhook)Keys/.exec(text) ?? [];
  if (secret) return `${secret.toUpperCase()}_KEYS`;
  if (/SignInSecret|arn:aws:secretsmanager/.test(text)) return 'OIDC_CLIENT_SECRET';
  if (/StreamArn/.test(text)) return 'stream';
  return text.replace(/^\$\{.*FnGetAttTable.*\}/, 'table');
}

/** Returns an expression as text, with `${…}` for values unknown before the deployment. */
export function textOf(expression: unknown): string {
  if (typeof expression === 'string') return expression;
  type Expression = {
    Ref?: string;
    'Fn::Join'?: [string, unknown[]];
    'Fn::Sub'?: string;
    'Fn::GetAtt'?: string[];
  };
  const { Ref, 'Fn::Join': join, 'Fn::Sub': text, 'Fn::GetAtt': of } = expression as Expression;
  if (join) return join[1].map(textOf).join(join[0]);
  if (text) return text;
  if (of) return `\${${of.join('.')}}`;
  return `\${${Ref ?? JSON.stringify(expression)}}`;
}

/** Returns the logical ids that an expression refers to. */
export function references(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'Ref') return [inner as string];
    if (key === 'Fn::GetAtt') return [[inner].flat()[0] as string];
    return references(inner);
  });
}
