import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Secret } from '../../shared/base/routes.ts';
import { ownTypesIn } from '../../shared/core/entity/own-types.ts';
import { acknowledge } from './nag.ts';
import type { Options } from './options.ts';
import type { TableUse } from './table-access.ts';
import { allow, tableRights } from './table-rights.ts';

/** Settings that all functions share. */
export interface FunctionDefaults {
  /** The folders of the code of functions, by their names. */
  bundles: ReadonlyMap<string, string>;
  table: ITable;
  secrets: Readonly<Record<Secret, ISecret>>;
  /** Environment variables of every function, by name. */
  settings: Readonly<Record<string, string>>;
  options: Options;
}

export interface TableFunctionProps extends TableUse {
  defaults: FunctionDefaults;
  description: string;
  rights?: iam.PolicyStatement[];
  timeout?: Duration;
  /** Reserved concurrent executions, which are also the maximum. Unset, they are shared. */
  concurrency?: number;
  /** Chosen by CloudFormation unless given. */
  functionName?: string;
}

/**
 * A Lambda, whose name is the id, with its own log group. Its role has only the rights that the
 * function declares. No construct adds to the role.
 */
export class TableFunction extends Construct {
  readonly lambda: lambda.Function;
  readonly role: iam.Role;

  constructor(scope: Construct, name: string, props: TableFunctionProps) {
    super(scope, name);
    const { defaults, description, secrets = [], rights = [], timeout } = props;
    const { options, bundles, table } = defaults;
    const directory = bundles.get(name);
    if (directory === undefined) throw new Error(`there is no code of ${name}`);

    const logGroup = new LogGroup(this, 'Logs', {
      retention: options.logDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const secretArns = secrets.map((name) => defaults.secrets[name].secretArn);
    const traced = options.tracing ? ['*'] : [];
    const ownTypes = [...ownTypesIn(options.settings.OWN_TYPES).keys()];
    const statements = [
      // The ARN of a log group includes its streams.
      ...allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]),
      ...tableRights(table.tableArn, props, ownTypes),
      ...allow(['secretsmanager:GetSecretValue'], secretArns),
      ...allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], traced),
      ...rights,
    ];
    this.role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { Rights: new iam.PolicyDocument({ statements }) },
    });
    acknowledge(this.role, {
      // As cdk-nag prints it.
      [`IAM5[Resource::${options.name}-data:ExportsOutputFnGetAttTableCD117FA1ArnE2C8C204/index/*]`]:
        'All are indexes of one table. The condition of the right names the partitions to list',
    });
    if (options.tracing) {
      acknowledge(this.role, { 'IAM5[Resource::*]': 'X-Ray has no resources to limit a right to' });
    }
    this.lambda = new lambda.Function(this, 'Function', {
      functionName: props.functionName,
      description,
      code: lambda.Code.fromAsset(directory),
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
      role: this.role.withoutPolicyUpdates(),
      environment: {
        TABLE_NAME: table.tableName,
        METRICS_NAMESPACE: options.name,
        ...defaults.settings,
        ...Object.fromEntries(secrets.map((each, i) => [`${each}_ARN`, `${secretArns[i]}`])),
      },
      logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      applicationLogLevelV2: lambda.ApplicationLogLevel.INFO,
      systemLogLevelV2: lambda.SystemLogLevel.WARN,
      tracing: options.tracing ? lambda.Tracing.ACTIVE : lambda.Tracing.DISABLED,
    });
  }
}
