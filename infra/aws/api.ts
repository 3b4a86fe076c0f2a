import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Aws, Fn, NestedStack, RemovalPolicy, Size } from 'aws-cdk-lib/core';
import { Construct, type IDependable } from 'constructs';
import { type Route, stage } from '../../shared/base/routes.ts';
import { methodsOf, resourceOf } from '../../shared/core/http/match-route.ts';
import { isExport, isGuide, isLarge, isSignIn } from '../route-load.ts';
import { apiDefinition, isOwnAddressClosed, minimumCompressionSize } from './api-definition.ts';
import { Edge } from './edge.ts';
import { functionGroups, groupOf } from './function-groups.ts';
import { acknowledge } from './nag.ts';
import type { Options } from './options.ts';
import { type FunctionDefaults, TableFunction, type TableFunctionProps } from './table-function.ts';
import { allow } from './table-rights.ts';
import { keepWarm, warmFunctions } from './warm.ts';

/**
 * A line of the access log, without path, address or token, because these identify people. Metric
 * filters need valid JSON: unset values print as `-`, and messages may contain quotes.
 */
const accessLogFields = {
  requestId: '$context.requestId',
  // A client may choose the first id, but not this one.
  extendedRequestId: '$context.extendedRequestId',
  // Lambda's own ids, which are in every line of the functions' logs as `requestId`.
  functionRequestId: '$context.integration.requestId',
  authorizerRequestId: '$context.authorizer.requestId',
  method: '$context.httpMethod',
  route: '$context.httpMethod $context.resourcePath',
  status: '$context.status',
  milliseconds: '$context.responseLatency',
  bytes: '$context.responseLength',
  error: '$context.error.responseType',
  lambdaStatus: '$context.integration.integrationStatus',
  authorizerLambdaStatus: '$context.authorizer.integrationStatus',
  client: '$context.authorizer.client_id',
};

/** Returns the format of the access log. CloudWatch Logs has the time of each line. */
function accessLogLine(tracing: boolean): string {
  const traced = tracing ? { trace: '$context.xrayTraceId' } : {};
  const line = JSON.stringify({ ...accessLogFields, ...traced });
  return line.replace('"$context.status"', '$context.status');
}

/** Limits of one method: API Gateway counts each method separately. */
function throttling(rate: number, burst = 2 * rate) {
  return { throttlingRateLimit: rate, throttlingBurstLimit: burst };
}

/** Returns limits that differ from those of the stage: requests a second, and burst. */
function limitsOf(route: Route, rate: number) {
  // A flood of sign-ins must not take the executions of the API.
  if (isSignIn(route) || isGuide(route)) return throttling(Math.ceil(rate / 10));
  // A part of an export reads up to 2,500 units. Two a second are less than half of the 12,000 that
  // a new table serves. Others who export at the same time wait.
  if (isExport(route)) return throttling(Math.min(2, rate), Math.min(4, 2 * rate));
  // At the full rate, the transfer of this large response would be the largest cost.
  return isLarge(route) ? throttling(Math.min(5, rate), Math.min(20, 2 * rate)) : undefined;
}

/**
 * The REST API. Its functions know its address, so it knows them by name and not by ARN.
 * CloudFormation makes the API, then the functions, and then puts the API live.
 */
export class Api extends Construct {
  readonly restApi: apigateway.SpecRestApi;
  readonly accessLog: LogGroup;
  /** {auth_url}. Not `Stage.urlForPath`, because the Stage depends on the functions. */
  readonly url: string;
  /** Of routes, by operation. Pages with the same rights share one. */
  readonly functions = new Map<string, TableFunction>();
  /** CloudFront in front of the API, with the option `cdn`. */
  readonly edge: Edge | undefined;
  readonly #routes: readonly Route[];
  readonly #service: string;

  constructor(
    scope: Construct,
    id: string,
    { options, routes }: { options: Options; routes: readonly Route[] },
  ) {
    super(scope, id);
    const { name, logDays, rateLimit, tracing, firewall, domain, cdn } = options;
    this.#routes = routes;
    this.#service = name;
    this.accessLog = new LogGroup(this, 'AccessLog', {
      retention: logDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const caller = this.#caller();
    const calls = {
      credentials: caller.roleArn,
      uriOf: (name: string) => {
        const path = `lambda:path/2015-03-31/functions/${this.#arnOf(name)}/invocations`;
        return Fn.sub(`arn:\${AWS::Partition}:apigateway:\${AWS::Region}:${path}`);
      },
    };
    this.restApi = new apigateway.SpecRestApi(this, 'RestApi', {
      restApiName: name,
      apiDefinition: apigateway.ApiDefinition.fromInline(apiDefinition(routes, calls, options)),
      mode: apigateway.RestApiMode.OVERWRITE,
      // A warning is a part of the definition that API Gateway does not understand.
      failOnWarnings: true,
      endpointTypes: [apigateway.EndpointType.REGIONAL],
      // As in the definition. CloudFormation sets both after an import.
      disableExecuteApiEndpoint: isOwnAddressClosed(options),
      minCompressionSize: Size.bytes(minimumCompressionSize),
      // One for each account. API Gateway needs this role to write access logs.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName: stage,
        ...throttling(rateLimit),
        methodOptions: Object.fromEntries(
          routes.flatMap((route) => {
            const limits = limitsOf(route, rateLimit);
            return limits
              ? methodsOf(route).map((method) => [`${resourceOf(route)}/${method}`, limits])
              : [];
          }),
        ),
        accessLogDestination: new apigateway.LogGroupLogDestination(this.accessLog),
        accessLogFormat: apigateway.AccessLogFormat.custom(accessLogLine(tracing)),
        loggingLevel: apigateway.MethodLoggingLevel.OFF,
        tracingEnabled: tracing,
      },
    });
    this.restApi.latestDeployment?.node.addDependency(caller);
    acknowledge(this.restApi, accepted);
    if (!firewall || cdn) acknowledge(this.restApi, noFirewall);
    const ownHost = `${this.restApi.restApiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}`;
    this.edge = cdn
      ? new Edge(this, 'Edge', { restApi: this.restApi, host: ownHost, options })
      : undefined;
    this.url = `https://${domain?.name ?? this.edge?.distribution.domainName ?? ownHost}/${stage}`;
  }

  /** Adds the functions of all routes and of all other paths, and the authorizer. */
  addFunctions(defaults: FunctionDefaults): void {
    const parts = Object.fromEntries(
      Object.entries(partNames).map(([id, description]) => [id, this.#part(id, description)]),
    ) as Record<Part, NestedStack>;
    const add = (part: Part, name: string, props: Omit<TableFunctionProps, 'defaults'>) => {
      const functionName = this.#nameOf(name);
      const created = new TableFunction(parts[part], name, { ...props, defaults, functionName });
      if (defaults.options.isProduction && warmFunctions.includes(name)) keepWarm(created);
      return created;
    };
    add('Functions', 'authorizer', {
      description: 'Verifies the access token',
      table: 'public',
      secrets: ['SIGNING_KEYS'],
    });
    add('Functions', 'no-route', {
      description: 'Answers requests that match no route',
      table: 'none',
    });
    for (const group of functionGroups(this.#routes)) {
      const [first, ...more] = group.routes;
      if (!first) continue;
      const created = add(partOf(first), group.name, {
        description:
          more.length > 0
            ? `${group.routes.length} pages with the same rights`
            : `${first.method} ${resourceOf(first)}`,
        table: first.table,
        within: first.within,
        asks: first.asks,
        secrets: first.secrets,
        concurrency: isSignIn(first) ? defaults.options.signInConcurrency : undefined,
      });
      for (const { operation } of group.routes) this.functions.set(operation, created);
    }
  }

  /** Has the API go live after these, such as what leads people to it in another way. */
  goesLiveAfter(...others: IDependable[]): void {
    this.restApi.latestDeployment?.node.addDependency(...others);
  }

  /** Has these wait until the API is live. */
  goesLiveBefore(...others: Construct[]): void {
    for (const each of others) each.node.addDependency(this.restApi.deploymentStage);
  }

  /** A nested stack for functions. The API goes live after it, with all that it calls. */
  #part(id: string, description: string) {
    const part = new NestedStack(this, id, { description: `Review service: ${description}` });
    this.restApi.latestDeployment?.node.addDependency(part);
    return part;
  }

  /** The role of API Gateway, which may call the functions of this service and nothing else. */
  #caller() {
    // One pattern, so that an update takes no right from a function that is still live.
    const functions = Fn.sub(this.#arnOf('*'));
    const role = new Role(this, 'Caller', {
      description: 'Taken on by API Gateway to call functions',
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      inlinePolicies: {
        Calls: new PolicyDocument({ statements: allow(['lambda:InvokeFunction'], [functions]) }),
      },
    });
    acknowledge(role, {
      // As cdk-nag prints it.
      [`IAM5[Resource::${this.#arnOf('*').replaceAll(/\$\{(.+?)\}/g, '<$1>')}]`]:
        'The functions of this service by the prefix of their names. API Gateway calls those that its definition names',
    });
    return role;
  }

  #nameOf(name: string) {
    return `${this.#service}-${name}`;
  }

  /** A text for Fn::Sub. */
  #arnOf(name: string) {
    const whole = this.#nameOf(name);
    return `arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:${whole}`;
  }
}

/** The nested stacks of the functions with their roles and logs. A stack may have 500 resources. */
const partNames = {
  Functions: 'the functions of the API',
  Pages: 'the functions of the pages',
  Forms: 'the functions that forms of the pages are sent to',
};
type Part = keyof typeof partNames;

/**
 * A function stays in its part: another part would be another function of the same name. So the
 * part of a shared function follows from its name, which has the rights in it.
 */
function partOf(route: Route): Part {
  const { base, method, table } = route;
  if (base === undefined) return 'Functions';
  const isForm = groupOf(route) === route.operation ? method !== 'GET' : table === 'write';
  return isForm ? 'Forms' : 'Pages';
}

/** Rules of cdk-nag that do not apply, with the reasons. */
const accepted = {
  APIG2: 'Every function validates its request and describes errors in the shape of the API',
  APIG6:
    'The access log has one line for each request, including errors of API Gateway itself; the functions log their own errors. Execution logs would repeat this, and cost by the line',
  'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
    'API Gateway requires this role with the policy that AWS maintains for it',
};
const noFirewall = {
  APIG3:
    'With `cdn` the firewall is that of CloudFront. Otherwise: a firewall doubles the fixed monthly cost of a small service, and costs $0.60 per million requests. The option `firewall` adds it',
};
