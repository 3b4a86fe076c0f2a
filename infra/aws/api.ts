import {
  AccessLogFormat,
  AwsIntegration,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  ResponseType,
  RestApi,
  TokenAuthorizer,
} from 'aws-cdk-lib/aws-apigateway';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import {
  Aws,
  Duration,
  NestedStack,
  RemovalPolicy,
  Size,
  Stack,
  Validations,
} from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { gatewayResponses } from '../../shared/http/gateway-responses.ts';
import { methodsOf, resourceOf } from '../../shared/http/match-route.ts';
import { preflightHeaders } from '../../shared/http/response.ts';
import { tokenExpression } from '../../shared/http/token-expression.ts';
import { type Route, routes, stage } from '../../shared/routes.ts';
import type { Options } from './options.ts';
import { type FunctionDefaults, TableFunction, type TableFunctionProps } from './table-function.ts';

/**
 * One line of the access log: neither a path nor an address nor a token, as those tell of people. What is not set is printed
 * as `-`, so that only the status may stand without quotes; and a message could hold a quote, so that failures are told by
 * kind and number. A line that is no JSON would be lost on every metric filter.
 */
const accessLogLine = JSON.stringify({
  requestId: '$context.requestId',
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

/** What a header says literally in the place of the authorizer: a mapping that is refused would fail the deployment. */
const challenge = `'Bearer realm="review", error="insufficient_scope"'`;

/**
 * Whether anybody may call it, without a token, to sign in or to get one. It may be slow, as some of it waits for the identity provider:
 * a flood here must not take the executions that the rest of the API needs.
 */
function isSignIn({ path }: Route): boolean {
  return path.startsWith('/oauth/') || path === '/account/sign-in' || path === '/account/callback';
}

/**
 * Answers that are large, alike for everybody, and kept by browsers: at the full rate their
 * transfer would be the dearest of all.
 */
function isLarge({ path }: Route): boolean {
  return path === '/openapi.json' || /^\/docs\/api(\/|$)/.test(path);
}

/** API Gateway counts by method, so that each has these limits to itself. */
function throttling(rate: number, burst = 2 * rate) {
  return { throttlingRateLimit: rate, throttlingBurstLimit: burst };
}

/** The limits of a route that has others than the stage: in requests a second, and at once. */
function limitsOf(route: Route, rate: number) {
  if (isSignIn(route)) return throttling(Math.ceil(rate / 10));
  return isLarge(route) ? throttling(Math.min(5, rate), Math.min(20, 2 * rate)) : undefined;
}

/** The REST API without its routes: what needs its address must exist before them. */
export class Api extends Construct {
  readonly restApi: RestApi;
  readonly accessLog: LogGroup;
  /** {auth_url}, with the stage and without a slash at the end. Not that of the Stage, which exists only after the routes. */
  readonly url: string;
  /** By operation. */
  readonly functions = new Map<string, TableFunction>();
  /** Holds functions with their roles and logs, paths and methods are outside: a stack may have 500 resources only. */
  readonly #functionStack: NestedStack;

  constructor(scope: Construct, id: string, options: Options) {
    super(scope, id);
    const { logDays, rateLimit, hasTracing, hasFirewall, hasExactChallenge, domain } = options;

    this.accessLog = new LogGroup(this, 'AccessLog', {
      retention: logDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.restApi = new RestApi(this, 'RestApi', {
      restApiName: options.name,
      endpointTypes: [EndpointType.REGIONAL],
      // Its own address would be a second issuer of tokens.
      disableExecuteApiEndpoint: domain !== undefined,
      // Bytes of a body from which it is compressed, for a client that asks.
      minCompressionSize: Size.bytes(1024),
      // Once in an account: API Gateway may write access logs only through it.
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
        accessLogDestination: new LogGroupLogDestination(this.accessLog),
        accessLogFormat: AccessLogFormat.custom(accessLogLine),
        loggingLevel: MethodLoggingLevel.OFF,
        tracingEnabled: hasTracing,
      },
      defaultCorsPreflightOptions: {
        allowOrigins: [preflightHeaders['Access-Control-Allow-Origin']],
        allowHeaders: preflightHeaders['Access-Control-Allow-Headers'].split(', '),
        allowMethods: preflightHeaders['Access-Control-Allow-Methods'].split(', '),
        maxAge: Duration.seconds(Number(preflightHeaders['Access-Control-Max-Age'])),
      },
    });
    this.url = `https://${domain?.name ?? `${this.restApi.restApiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}`}/${stage}`;

    for (const { type, status, headers, body } of gatewayResponses) {
      this.restApi.addGatewayResponse(type, {
        type: ResponseType.of(type),
        statusCode: status?.toString(),
        responseHeaders: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => {
            const isMapped = value.startsWith('context.authorizer.') && !hasExactChallenge;
            return [name, isMapped ? challenge : value];
          }),
        ),
        templates: { 'application/json': body },
      });
    }
    Validations.of(this.restApi).acknowledge(
      ...Object.entries({ ...accepted, ...(hasFirewall ? {} : noFirewall) }).map(
        ([rule, reason]) => ({ id: `AwsSolutions-${rule}`, reason }),
      ),
    );
    this.#functionStack = new NestedStack(this, 'Functions', {
      description: 'Review service: the functions behind the API',
    });
  }

  /** A function for each route, one authorizer for the routes that are not public, and an answer for everything else. */
  addRoutes(defaults: FunctionDefaults): void {
    // The authorizer's id is unknown here: it is made after the functions. The API has no other.
    const authorizerFunction = this.#function('authorizer', 'authorizers/*', {
      defaults,
      description: 'Who bears this access token?',
      table: 'read',
      secrets: ['SIGNING_KEYS'],
    });
    const noRoute = this.#function('no-route', `${stage}/*/*`, {
      defaults,
      description: 'What no route serves',
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

    const authorizer = new TokenAuthorizer(this, 'Authorizer', {
      // The construct's own permission would name the authorizer, which waits for the function.
      handler: LambdaFunction.fromFunctionAttributes(this, 'AuthorizerFunction', {
        functionArn: authorizerFunction.functionArn,
        skipPermissions: true,
      }),
      validationRegex: tokenExpression,
      // A cached policy is replayed on other routes, and outlives a revoked token.
      resultsCacheTtl: Duration.seconds(0),
    });
    const addMethod = (method: string, path: string, to: LambdaFunction, guard = {}) => {
      const invocations = `2015-03-31/functions/${to.functionArn}/invocations`;
      const integration = new AwsIntegration({ service: 'lambda', path: invocations, proxy: true });
      this.restApi.root.resourceForPath(path).addMethod(method, integration, guard);
    };
    for (const { route, handler } of served) {
      for (const method of methodsOf(route)) {
        const guard = route.access === 'public' ? {} : { authorizer };
        addMethod(method, resourceOf(route), handler, guard);
      }
    }
    for (const path of ['/', '/{proxy+}']) addMethod('ANY', path, noRoute);
  }

  /** A function that API Gateway may call so, in the name of this API only. */
  #function(operation: string, calls: string, props: TableFunctionProps): LambdaFunction {
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
 * Calls of a route, as stage, method and path. A star stands for a path parameter, for GET and
 * HEAD (so that one permission is enough), and for the slash with which a path may end.
 */
function callsOf(route: Route): string {
  const [method, ...others] = methodsOf(route);
  const path = resourceOf(route).replaceAll(/{[^}]+}/g, '*');
  return `${stage}/${others.length > 0 ? '*' : method}${path}*`;
}

/** What cdk-nag would have otherwise, and why it is so. */
const accepted = {
  APIG2: 'Every function validates its request, and says in our error shape what is wrong',
  APIG4:
    'What is public is so by the specification; a test compares every method with the route table',
  COG4: 'Access tokens are our own, of OAuth 2.0: our authorizer knows them, Cognito not',
  APIG6:
    'The access log has one line for each request, with what API Gateway itself refused or failed at; the functions log their own errors. Execution logs would tell the same once more, and cost by the line',
  'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
    'The role that API Gateway asks for, with the policy that AWS keeps for it',
};
const noFirewall = {
  APIG3:
    'A firewall costs about as much a month as everything else that a small service pays whether it is used or not, and $0.60 per million requests: an option, `firewall`',
};
