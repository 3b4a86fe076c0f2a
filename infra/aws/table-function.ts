import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { ownTypesIn } from '../../shared/entity/own-types.ts';
import type { Route, Secret } from '../../shared/routes.ts';
import type { Bundle } from './bundle.ts';
import { acknowledge } from './nag.ts';
import type { Options } from './options.ts';
import { allow, tableRights } from './table-rights.ts';

/** Settings that all functions share. */
export interface FunctionDefaults {
  bundles: ReadonlyMap<string, Bundle>;
  table: ITable;
  secrets: Readonly<Record<Secret, ISecret>>;
  /** Environment variables by name. A function gets those that its code reads. */
  settings: Readonly<Record<string, string>>;
  options: Options;
}

export interface TableFunctionProps {
  defaults: FunctionDefaults;
  description: string;
  /** The largest access to the table. The function gets only the rights that its code uses. */
  table: Route['table'];
  within?: Route['within'];
  asks?: Route['asks'];
  secrets?: readonly Secret[];
  rights?: iam.PolicyStatement[];
  timeout?: Duration;
  /** Reserved concurrent executions, which are also the maximum. Unset, they are shared. */
  concurrency?: number;
  /** Chosen by CloudFormation unless given. */
  functionName?: string;
}

/**
 * A Lambda, whose name is the id, with its own log group. Its role has only the rights that its
 * code uses. No construct adds to the role.
 */
export class TableFunction extends Construct {
  readonly lambda: lambda.Function;

  constructor(scope: Construct, name: string, props: TableFunctionProps) {
    super(scope, name);
    const { defaults, description, secrets = [], rights = [], timeout } = props;
    const { options, bundles, table } = defaults;
    const bundle = bundles.get(name);
    if (!bundle) throw new Error(`there is no code of ${name}`);

    const logGroup = new LogGroup(this, 'Logs', {
      retention: options.logDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const secretArns = secrets.map((name) => defaults.secrets[name].secretArn);
    const traced = options.tracing ? ['*'] : [];
    const statements = [
      // The ARN of a log group includes its streams.
      ...allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]),
      ...tableRights(table.tableArn, name, {
        ...bundle,
        allowed: props.table,
        within: props.within,
        asks: props.asks,
        ownTypes: [...ownTypesIn(options.things.OWN_TYPES).keys()],
        hasSessions: secrets.includes('SESSION_KEYS'),
      }),
      ...allow(['secretsmanager:GetSecretValue'], secretArns),
      ...allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], traced),
      ...rights,
    ];
    const role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { Rights: new iam.PolicyDocument({ statements }) },
    });
    if (options.tracing) {
      acknowledge(role, { 'IAM5[Resource::*]': 'X-Ray has no resources to limit a right to' });
    }
    this.lambda = new lambda.Function(this, 'Function', {
      functionName: props.functionName,
      description,
      code: lambda.Code.fromAsset(bundle.directory),
      handler: 'index.handler',
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      // 0.58 of a CPU. Until its first answer, get-review takes 43 to 67 ms of CPU in its init, at
      // full speed, and then 27 to 45 ms. With the warm-up of the table's client these are 70 to 92
      // and 16 to 19 ms (local, without TLS). 1 GB costs $0.07 more per million requests than
      // 512 MB; API Gateway costs $3.50.
      memorySize: 1024,
      timeout: timeout ?? Duration.seconds(15),
      reservedConcurrentExecutions: props.concurrency,
      role: role.withoutPolicyUpdates(),
      environment: environmentOf({ defaults, bundle, secrets }),
      logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      applicationLogLevelV2: lambda.ApplicationLogLevel.INFO,
      systemLogLevelV2: lambda.SystemLogLevel.WARN,
      tracing: options.tracing ? lambda.Tracing.ACTIVE : lambda.Tracing.DISABLED,
    });
  }
}

function environmentOf({
  defaults: { table, secrets, settings, options },
  bundle: { variables },
  secrets: names,
}: {
  defaults: FunctionDefaults;
  bundle: Bundle;
  secrets: readonly Secret[];
}) {
  const isRead = (name: string) =>
    variables.some((read) => (read.startsWith('*') ? name.endsWith(read.slice(1)) : name === read));
  const values = {
    TABLE_NAME: table.tableName,
    METRICS_NAMESPACE: options.name,
    ...settings,
  };
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    if (isRead(name)) environment[name] = value;
  }
  for (const name of names) {
    environment[`${name}_ARN`] = secrets[name].secretArn;
  }
  if (options.sourceMaps) environment.NODE_OPTIONS = '--enable-source-maps';
  return environment;
}
