import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyDocument, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Route, Secret } from '../../shared/routes.ts';
import type { Bundle } from './bundle.ts';
import type { Options } from './options.ts';
import { allow, tableRights } from './table-rights.ts';

/** What all functions have in common. */
export interface FunctionDefaults {
  bundles: ReadonlyMap<string, Bundle>;
  table: ITable;
  secrets: Readonly<Record<Secret, ISecret>>;
  /** Environment variables by name: a function gets those that its code reads. */
  settings: Readonly<Record<string, string>>;
  options: Options;
}

export interface TableFunctionProps {
  defaults: FunctionDefaults;
  description: string;
  /** The most that it may do to the table; of this it gets what its code can do. */
  table: Route['table'];
  secrets?: readonly Secret[];
  /** What else it may do. */
  rights?: PolicyStatement[];
  timeout?: Duration;
  /** How many executions are kept free for it, which is also the most that it gets; unset takes from what all share. */
  concurrency?: number;
}

/**
 * The Lambda of one operation, which is its id: its own log group, and a role that may do what its code does and nothing
 * else. No construct adds to that role.
 */
export class TableFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, operation: string, props: TableFunctionProps) {
    super(scope, operation);
    const { defaults, description, secrets = [], rights = [], timeout } = props;
    const { options, bundles, table } = defaults;
    const bundle = bundles.get(operation);
    if (!bundle) throw new Error(`functions/${operation}.ts is missing`);

    const logGroup = new LogGroup(this, 'Logs', {
      retention: options.logDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        Rights: new PolicyDocument({
          statements: [
            // The ARN of a log group stands for its streams.
            ...allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]),
            ...tableRights(table.tableArn, operation, { ...bundle, allowed: props.table }),
            ...allow(
              ['secretsmanager:GetSecretValue'],
              secrets.map((name) => defaults.secrets[name].secretArn),
            ),
            ...(options.hasTracing
              ? allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], ['*'])
              : []),
            ...rights,
          ],
        }),
      },
    });
    if (options.hasTracing) {
      Validations.of(role).acknowledge({
        id: 'AwsSolutions-IAM5[Resource::*]',
        reason: 'X-Ray has no resources that a right could be limited to',
      });
    }
    this.lambda = new LambdaFunction(this, 'Function', {
      description,
      code: Code.fromAsset(bundle.directory),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      // 0.6 of a CPU: the first call to DynamoDB (20 ms of CPU) and a page of 50 reviews wait for it. It costs $0.07 more
      // per million requests than 512 MB, where API Gateway takes $3.50.
      memorySize: 1024,
      timeout: timeout ?? Duration.seconds(15),
      reservedConcurrentExecutions: props.concurrency,
      role: role.withoutPolicyUpdates(),
      environment: environmentOf(bundle, defaults, secrets),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.WARN,
      tracing: options.hasTracing ? Tracing.ACTIVE : Tracing.DISABLED,
    });
  }
}

function environmentOf(
  { variables }: Bundle,
  { table, secrets, settings, options }: FunctionDefaults,
  names: readonly Secret[],
): Record<string, string> {
  const known = Object.entries({ TABLE_NAME: table.tableName, ...settings });
  const isRead = (name: string) =>
    variables.some((read) => (read.startsWith('*') ? name.endsWith(read.slice(1)) : name === read));
  return {
    ...Object.fromEntries(known.filter(([name]) => isRead(name))),
    ...Object.fromEntries(names.map((name) => [`${name}_ARN`, secrets[name].secretArn])),
    ...(options.hasSourceMaps ? { NODE_OPTIONS: '--enable-source-maps' } : {}),
  };
}
