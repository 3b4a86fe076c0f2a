import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Aws, Duration, NestedStack, RemovalPolicy, Size, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import {
  gatewayResponses,
  literals,
  tokenExpression,
} from '../../shared/http/gateway-responses.ts';
import { methodsOf, resourceOf } from '../../shared/http/match-route.ts';
import { preflightHeaders, strictTransport } from '../../shared/http/response.ts';
import { isGuide, isLarge, isSignIn } from '../../shared/http/route-load.ts';
import { type Route, routes, stage } from '../../shared/routes.ts';
import { Edge } from './edge.ts';
import { acknowledge } from './nag.ts';
import type { Options } from './options.ts';
import { type FunctionDefaults, TableFunction, type TableFunctionProps } from './table-function.ts';

/**
 * A line of the access log, without path, address or token, because these identify people. Metric
 * filters need valid JSON: unset values print as `-`, and messages may contain quotes.
 */
const accessLogLine = JSON.stringify({
  requestId: '$context.requestId',
  // A client may choose the first id, but not this one.
  extendedRequestId: '$context.extendedRequestId',
  // Lambda's own ids, which are in every line of the functions' logs as `requestId`.
  functionRequestId: '$context.integration.requestId',
  authorizerRequestId: '$context.authorizer.requestId',
  trace: '$context.xrayTraceId',
  time: '$context.requestTime',
  method: '$context.httpMethod',
  route: '$context.httpMethod $context.resourcePath',
  status: '$context.status',
  milliseconds: '$context.responseLatency',
  bytes: '$context.responseLength',
  error: '$context.error.responseType',
  integrationStatus: '$context.integration.status',
  lambdaStatus: '$context.integration.integrationStatus',
  authorizerStatus: '$context.authorizer.status',
  authorizerLambdaStatus: '$context.authorizer.integrationStatus',
  client: '$context.authorizer.client_id',
}).replace('"$context.status"', '$context.status');

/** A literal header value: a mapping that API Gateway rejects would fail the deployment. */
const challenge = `'Bearer realm="review", error="insufficient_scope"'`;

/** Limits of one method: API Gateway counts each method separately. */
function throttling(rate: number, burst = 2 * rate) {
  return { throttlingRateLimit: rate, throttlingBurstLimit: burst };
}

/** Returns limits that differ from those of the stage: requests a second, and burst. */
function limitsOf(route: Route, rate: number) {
  // A flood of sign-ins must not take the executions of the API.
  if (isSignIn(route) || isGuide(route)) return throttling(Math.ceil(rate / 10));
  // At the full rate, the transfer of these large responses would be the largest cost.
  return isLarge(route) ? throttling(Math.min(5, rate), Math.min(20, 2 * rate)) : undefined;
}

/** The REST API, at first without its routes: other constructs need its address before. */
export class Api extends Construct {
  readonly restApi: apigateway.RestApi;
  readonly accessLog: LogGroup;
  /** {auth_url}. Not `Stage.urlForPath`, because the Stage depends on the routes. */
  readonly url: string;
  readonly functions = new Map<string, TableFunction>();
  /** For functions with their roles and logs, because a stack may have only 500 resources. */
  readonly #functionStack: NestedStack;

  constructor(scope: Construct, id: string, options: Options) {
    super(scope, id);
    const { logDays, rateLimit, tracing, firewall, exactChallenge, domain, cdn } = options;
    this.accessLog = new LogGroup(this, 'AccessLog', {
      retention: logDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.restApi = new apigateway.RestApi(this, 'RestApi', {
      restApiName: options.name,
      endpointTypes: [apigateway.EndpointType.REGIONAL],
      // The default address would be a second address of the service. CloudFront needs it, and is
      // the only one with the key to it.
      disableExecuteApiEndpoint: domain !== undefined && !cdn,
      // Smallest body that is compressed for a client that accepts it.
      minCompressionSize: Size.bytes(1024),
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
        accessLogFormat: apigateway.AccessLogFormat.custom(accessLogLine),
        loggingLevel: apigateway.MethodLoggingLevel.OFF,
        tracingEnabled: tracing,
      },
      defaultCorsPreflightOptions: {
        allowOrigins: [preflightHeaders['Access-Control-Allow-Origin']],
        allowHeaders: preflightHeaders['Access-Control-Allow-Headers'].split(', '),
        allowMethods: preflightHeaders['Access-Control-Allow-Methods'].split(', '),
        maxAge: Duration.seconds(Number(preflightHeaders['Access-Control-Max-Age'])),
      },
    });
    const ownHost = `${this.restApi.restApiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}`;
    const edge = cdn
      ? new Edge(this, 'Edge', { restApi: this.restApi, host: ownHost, options })
      : undefined;
    this.url = `https://${domain?.name ?? edge?.distribution.domainName ?? ownHost}/${stage}`;

    for (const { type, status, headers, body } of gatewayResponses) {
      this.restApi.addGatewayResponse(type, {
        type: apigateway.ResponseType.of(type),
        statusCode: status?.toString(),
        responseHeaders: Object.fromEntries(
          Object.entries({ ...literals(strictTransport), ...headers }).map(([name, value]) => {
            const isMapped = value.startsWith('context.authorizer.') && !exactChallenge;
            return [name, isMapped ? challenge : value];
          }),
        ),
        templates: { 'application/json': body },
      });
    }
    acknowledge(this.restApi, accepted);
    if (!firewall || cdn) acknowledge(this.restApi, noFirewall);
    this.#functionStack = new NestedStack(this, 'Functions', {
      description: 'Review service: the functions behind the API',
    });
  }

  /** Adds a function for each route and for all other paths, and the authorizer. */
  addRoutes(defaults: FunctionDefaults): void {
    // Any authorizer of the API, which has only one: it is created after the functions.
    const authorizerFunction = this.#function('authorizer', 'authorizers/*', {
      defaults,
      description: 'Verifies the access token',
      table: 'read',
      secrets: ['SIGNING_KEYS'],
    });
    const noRoute = this.#function('no-route', `${stage}/*/*`, {
      defaults,
      description: 'Answers requests that match no route',
      table: 'none',
    });
    const served = routes.map((route) => {
      const handler = this.#function(route.operation, callsOf(route), {
        defaults,
        description: `${route.method} ${resourceOf(route)}`,
        table: route.table,
        secrets: route.secrets,
        concurrency: isSignIn(route) ? defaults.options.signInConcurrency : undefined,
      });
      return { route, handler };
    });

    const authorizer = new apigateway.TokenAuthorizer(this, 'Authorizer', {
      // The construct's permission would depend on the authorizer, which depends on the function.
      handler: lambda.Function.fromFunctionAttributes(this, 'AuthorizerFunction', {
        functionArn: authorizerFunction.functionArn,
        skipPermissions: true,
      }),
      validationRegex: tokenExpression,
      // A cached policy would also apply to other routes, and outlive a revoked token.
      resultsCacheTtl: Duration.seconds(0),
    });
    const demand = defaults.options.cdn ? { apiKeyRequired: true } : {};
    const addMethod = (method: string, resource: string, to: lambda.Function, guard = {}) => {
      const path = `2015-03-31/functions/${to.functionArn}/invocations`;
      const integration = new apigateway.AwsIntegration({ service: 'lambda', path, proxy: true });
      this.restApi.root
        .resourceForPath(resource)
        .addMethod(method, integration, { ...demand, ...guard });
    };
    for (const { route, handler } of served) {
      for (const method of methodsOf(route)) {
        const guard = route.access === 'public' ? {} : { authorizer };
        addMethod(method, resourceOf(route), handler, guard);
      }
    }
    for (const path of ['/', '/{proxy+}']) addMethod('ANY', path, noRoute);
  }

  /** Adds a function that only this API may call, with calls of this pattern. */
  #function(operation: string, calls: string, props: TableFunctionProps) {
    const created = new TableFunction(this.#functionStack, operation, props);
    this.functions.set(operation, created);
    created.lambda.addPermission('Call', {
      principal: new ServicePrincipal('apigateway.amazonaws.com'),
      sourceArn: Stack.of(this).formatArn({
        service: 'execute-api',
        resource: `${this.restApi.restApiId}/${calls}`,
      }),
    });
    return created.lambda;
  }
}

/**
 * Returns the calls of a route as stage, method and path. A star stands for a path parameter, for
 * GET and HEAD (so that one permission is enough), and for an optional slash at the end.
 */
function callsOf(route: Route) {
  const [method, ...others] = methodsOf(route);
  const path = resourceOf(route).replaceAll(/{[^}]+}/g, '*');
  return `${stage}/${others.length > 0 ? '*' : method}${path}*`;
}

/** Rules of cdk-nag that do not apply, with the reasons. */
const accepted = {
  APIG2: 'Every function validates its request and describes errors in the shape of the API',
  APIG4:
    'The specification makes these methods public; a test compares every method with the route table',
  COG4: 'The service issues its own OAuth 2.0 access tokens, which its authorizer verifies; Cognito cannot',
  APIG6:
    'The access log has one line for each request, including errors of API Gateway itself; the functions log their own errors. Execution logs would repeat this, and cost by the line',
  'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
    'API Gateway requires this role with the policy that AWS maintains for it',
};
const noFirewall = {
  APIG3:
    'With `cdn` the firewall is that of CloudFront. Otherwise: a firewall doubles the fixed monthly cost of a small service, and costs $0.60 per million requests. The option `firewall` adds it',
};
