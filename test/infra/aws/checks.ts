import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { consumers, schedules } from '../../../shared/background.ts';
import { resourceOf } from '../../../shared/http/match-route.ts';
import { type Route, routes } from '../../../shared/routes.ts';

/** A CloudFormation template, as far as the checks look at it. */
export interface Template {
  Resources: Record<string, Resource>;
  Outputs?: Record<string, unknown>;
}
// biome-ignore lint/suspicious/noExplicitAny: what is in a resource depends on its type.
type Resource = { Type: string; Properties: any; [key: string]: any };

/** What the app makes, in `outdir`: its two templates, and what cdk-nag says of them. */
export async function synthesize(outdir: string, context: Record<string, string> = {}) {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['bin/app.ts'], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      CDK_OUTDIR: outdir,
      CDK_CONTEXT_JSON: JSON.stringify({ ...json(join(root, 'cdk.json')).context, ...context }),
    },
  });
  const name = context.name ?? 'review-service';
  return {
    said: stdout + stderr,
    data: json(join(outdir, `${name}-data.template.json`)) as Template,
    service: json(join(outdir, `${name}.template.json`)) as Template,
    nag: json(join(outdir, 'validation-report.json')).pluginReports as unknown[],
    code: (operation: string) =>
      readFileSync(join(outdir, 'functions', operation, 'index.mjs'), 'utf8'),
  };
}

/** What functions other than those of routes may do. */
const others: readonly Pick<Route, 'operation' | 'table' | 'secrets'>[] = [
  { operation: 'authorizer', table: 'read', secrets: ['SIGNING_KEYS'] },
  { operation: 'no-route', table: 'none' },
  ...[...consumers, ...schedules].map(({ operation }) => {
    return { operation, table: 'write' as const };
  }),
];

/** Resources of one type, by logical id. */
export function resources({ Resources }: Template, type: string): [string, Resource][] {
  return Object.entries(Resources).filter(([, { Type }]) => Type === type);
}

/** The functions and their operations. */
export function functions(template: Template): [string, Resource][] {
  const operations = [...routes, ...others].map(({ operation }) => operation);
  return resources(template, 'AWS::Lambda::Function').map(([id, resource]) => {
    const operation = operations.find((operation) => isOf(operation, id));
    return [operation ?? `? ${id}`, resource];
  });
}

/** Whether a resource belongs to the function of an operation: CDK leaves the hyphens out of its names. */
function isOf(operation: string, logicalId: string): boolean {
  const name = operation.replaceAll('-', '');
  return new RegExp(`^(Api|Background)${name}(Function|Role|Stream)`).test(logicalId);
}

/** Routes that are missing, have another authorizer than the route table says or another function, and methods of no route. */
export function wrongMethods(template: Template): string[] {
  const [[authorizer, { Properties: settings }] = ['', { Properties: {} }]] = resources(
    template,
    'AWS::ApiGateway::Authorizer',
  );
  const problems =
    settings.Type === 'TOKEN' && settings.AuthorizerResultTtlInSeconds === 0
      ? []
      : ['the authorizer caches'];
  const expected = new Map<string, Pick<Route, 'operation' | 'access'>>(
    routes.map((route) => [`${route.method} ${resourceOf(route)}`, route]),
  );
  for (const route of routes) {
    if (route.method !== 'GET' || route.access !== 'public') continue;
    expected.set(`HEAD ${resourceOf(route)}`, route);
  }
  for (const path of ['/', '/{proxy+}']) {
    expected.set(`ANY ${path}`, { operation: 'no-route', access: 'public' });
  }
  for (const [id, { Properties: method }] of resources(template, 'AWS::ApiGateway::Method')) {
    const name = `${method.HttpMethod} ${pathOf(template, method.ResourceId)}`;
    if (method.HttpMethod === 'OPTIONS') continue;
    const route = expected.get(name);
    expected.delete(name);
    if (!route) {
      problems.push(`${name} (${id}) is no route`);
      continue;
    }
    const isGuarded =
      method.AuthorizationType === 'CUSTOM' && method.AuthorizerId?.Ref === authorizer;
    if (isGuarded === (route.access === 'public')) {
      problems.push(`${name} is ${isGuarded ? 'guarded' : 'open'}, but for ${route.access}`);
    }
    if (!references(method.Integration.Uri).some((target) => isOf(route.operation, target))) {
      problems.push(`${name} does not lead to ${route.operation}`);
    }
  }
  return [...problems, ...[...expected.keys()].map((name) => `${name} is missing`)];
}

/** Resources without a preflight, and answers of API Gateway that a script of another origin could not read. */
export function withoutCors(template: Template): string[] {
  const preflights = resources(template, 'AWS::ApiGateway::Method')
    .filter(([, { Properties }]) => Properties.HttpMethod === 'OPTIONS')
    .map(([, { Properties }]) => pathOf(template, Properties.ResourceId));
  const paths = resources(template, 'AWS::ApiGateway::Resource').map(([Ref]) =>
    pathOf(template, { Ref }),
  );
  const answers = resources(template, 'AWS::ApiGateway::GatewayResponse').filter(
    ([, { Properties }]) =>
      Properties.ResponseParameters?.['gatewayresponse.header.Access-Control-Allow-Origin'] !==
      "'*'",
  );
  return [
    ...['/', ...paths].filter((path) => !preflights.includes(path)),
    ...answers.map(([, { Properties }]) => Properties.ResponseType as string),
  ];
}

/** Rights to more than is named: with a star in action or resource, or by a policy of AWS. */
export function wildcardRights(template: Template): string[] {
  return statements(template).flatMap(({ id, Action, Resource }) =>
    JSON.stringify([Action, Resource]).includes('*') ? [`${id}: ${[Action].flat()}`] : [],
  );
}

/** Functions that may do more to the table, or read other secrets, than the route table says. */
export function excessRights(template: Template): string[] {
  const reading = ['GetItem', 'BatchGetItem', 'Query'];
  const writing = ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'ConditionCheckItem'];
  const allowedTo = { none: [], read: reading, write: [...reading, ...writing] };
  return [...routes, ...others].flatMap(({ operation, table, secrets = [] }) => {
    const allowed: readonly string[] = allowedTo[table];
    const own = statements(template).filter(({ id }) => isOf(operation, id));
    const actions = own
      .filter(({ Resource }) => /Table(?!.*StreamArn)/.test(JSON.stringify(Resource)))
      .flatMap(({ Action }) => Action as string | string[])
      .filter((action) => !allowed.includes(action.replace('dynamodb:', '')));
    const readable = own
      .filter(({ Action }) => [Action].flat().includes('secretsmanager:GetSecretValue'))
      .flatMap(({ Resource }) => [Resource].flat())
      .map(secretOf)
      .filter((secret) => !(secrets as readonly string[]).includes(secret));
    return [...actions, ...readable].map((right) => `${operation}: ${right}`);
  });
}

/** Environment variables that the code of a function reads, and that nothing sets. */
export function missingVariables(
  template: Template,
  code: (operation: string) => string,
): string[] {
  return functions(template).flatMap(([operation, { Properties }]) => {
    const set = Object.keys(Properties.Environment?.Variables ?? {});
    const text = code(operation);
    const read = [...text.matchAll(/process\.env\.([A-Z]\w+)/g)].map(([, name]) => name ?? '');
    const secrets = [...text.matchAll(/\w\("(SIGNING_KEYS|SESSION_KEYS|OIDC_CLIENT_SECRET)"\)/g)];
    const needed = [
      ...read.filter((name) => !/^(AWS|NODE)_/.test(name)),
      ...secrets.map(([, name]) => `${name}_ARN`),
    ];
    const missing = [...new Set(needed)].filter((name) => !set.includes(name));
    return missing.map((name) => `${operation}: ${name}`);
  });
}

/** Tables, user pools and keys that would go with their stack. */
export function unretained(template: Template): string[] {
  return Object.entries(template.Resources).flatMap(([id, resource]) => {
    if (!/DynamoDB::Table|UserPool$|Secret$/.test(resource.Type)) return [];
    const isKept =
      resource.DeletionPolicy === 'Retain' && resource.UpdateReplacePolicy === 'Retain';
    return isKept ? [] : [id];
  });
}

/** Resources that wait for themselves: CloudFormation would refuse the template, CDK does not look. */
export function circles(template: Template): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (id: string, path: readonly string[]): void => {
    if (path.includes(id)) found.push([...path.slice(path.indexOf(id)), id].join(' → '));
    if (done.has(id) || path.includes(id)) return;
    const resource = template.Resources[id];
    const needed = [
      ...references(resource?.Properties),
      ...[resource?.DependsOn ?? []].flat(),
    ] as string[];
    for (const next of needed) if (template.Resources[next]) visit(next, [...path, id]);
    done.add(id);
  };
  for (const id of Object.keys(template.Resources)) visit(id, []);
  return found;
}

interface Statement {
  /** Of the role. */
  id: string;
  Action: unknown;
  Resource: unknown;
}

function statements(template: Template): Statement[] {
  const roles = resources(template, 'AWS::IAM::Role').flatMap(([id, { Properties }]) =>
    (Properties.Policies ?? []).map((policy: Resource['Properties']) => [id, policy]),
  );
  const policies = resources(template, 'AWS::IAM::Policy').map(([, { Properties }]) => [
    Properties.Roles.map(({ Ref }: { Ref: string }) => Ref).join(),
    Properties,
  ]);
  return [...roles, ...policies].flatMap(([id, { PolicyDocument }]) =>
    PolicyDocument.Statement.map((statement: Statement) => ({ ...statement, id })),
  );
}

/** Which of our secrets an expression stands for. */
function secretOf(expression: unknown): string {
  const text = JSON.stringify(expression);
  if (/SigningKeys/.test(text)) return 'SIGNING_KEYS';
  if (/SessionKeys/.test(text)) return 'SESSION_KEYS';
  return /SignInSecret|arn:aws:secretsmanager/.test(text) ? 'OIDC_CLIENT_SECRET' : text;
}

/** The path that an API Gateway resource serves, below the stage. */
function pathOf(template: Template, reference: { Ref?: string }): string {
  const resource = template.Resources[reference.Ref ?? '']?.Properties;
  if (!resource) return '/';
  const parent = pathOf(template, resource.ParentId);
  return `${parent === '/' ? '' : parent}/${resource.PathPart}`;
}

/** The logical ids that an expression refers to. */
function references(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'Ref') return [inner as string];
    if (key === 'Fn::GetAtt') return [[inner].flat()[0] as string];
    return references(inner);
  });
}
