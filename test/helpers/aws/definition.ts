import * as v from 'valibot';
import { resources, type Template, textOf } from './checks.ts';

/** A literal in quotes, or a value of the authorizer. */
const Mapped = v.pipe(v.string(), v.regex(/^('[^']*'|context\.authorizer\.\w+)$/));
const Text = v.string();
const Role = v.pipe(Text, v.regex(/^\${\w+\.Arn}$/));
const Uri = v.pipe(
  Text,
  v.regex(
    /^arn:\${AWS::Partition}:apigateway:\${AWS::Region}:lambda:path\/2015-03-31\/functions\/arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:[\w-]{1,64}\/invocations$/,
  ),
);

// The objects of API Gateway's documentation of its extensions, with the properties used here and
// no other. Expressions of the template are texts.
const Integration = v.variant('type', [
  v.strictObject({
    type: v.literal('aws_proxy'),
    httpMethod: v.literal('POST'),
    uri: Uri,
    credentials: Role,
  }),
  v.strictObject({
    type: v.literal('mock'),
    // With text/plain, API Gateway would pass the body on to the mock, and answer 500.
    passthroughBehavior: v.literal('never'),
    requestTemplates: v.strictObject({ 'application/json': v.literal('{"statusCode": 200}') }),
    responses: v.strictObject({
      default: v.strictObject({
        statusCode: v.literal('204'),
        responseParameters: v.record(
          v.pipe(Text, v.regex(/^method\.response\.header\.[\w-]+$/)),
          Mapped,
        ),
      }),
    }),
  }),
]);
const Operation = v.strictObject({
  parameters: v.optional(
    v.array(
      v.strictObject({
        name: v.pipe(Text, v.regex(/^\w+$/)),
        in: v.literal('path'),
        required: v.literal(true),
        schema: v.strictObject({ type: v.literal('string') }),
      }),
    ),
  ),
  security: v.optional(
    v.array(
      v.union([
        v.strictObject({ accessToken: v.tuple([]) }),
        v.strictObject({ apiKey: v.tuple([]) }),
      ]),
    ),
  ),
  responses: v.record(
    v.picklist(['200', '204']),
    v.strictObject({
      description: Text,
      headers: v.optional(v.record(Text, v.strictObject({ schema: v.unknown() }))),
    }),
  ),
  'x-amazon-apigateway-integration': Integration,
});
const anyMethod = 'x-amazon-apigateway-any-method';
const Methods = v.record(
  v.picklist(['get', 'head', 'post', 'put', 'delete', 'options', anyMethod]),
  Operation,
);
// Types of gateway responses that can be customised, by the documentation.
const responseTypes =
  'ACCESS_DENIED API_CONFIGURATION_ERROR AUTHORIZER_CONFIGURATION_ERROR AUTHORIZER_FAILURE BAD_REQUEST_BODY BAD_REQUEST_PARAMETERS DEFAULT_4XX DEFAULT_5XX EXPIRED_TOKEN INTEGRATION_FAILURE INTEGRATION_TIMEOUT INVALID_API_KEY INVALID_SIGNATURE MISSING_AUTHENTICATION_TOKEN QUOTA_EXCEEDED REQUEST_TOO_LARGE RESOURCE_NOT_FOUND THROTTLED UNAUTHORIZED UNSUPPORTED_MEDIA_TYPE WAF_FILTERED'.split(
    ' ',
  );
const Document = v.strictObject({
  openapi: v.literal('3.0.1'),
  info: v.strictObject({ title: Text, version: Text }),
  servers: v.tuple([
    v.strictObject({
      url: v.literal('/'),
      'x-amazon-apigateway-endpoint-configuration': v.strictObject({
        disableExecuteApiEndpoint: v.boolean(),
      }),
    }),
  ]),
  paths: v.record(
    // Path segments have letters, digits and some signs. A parameter is a segment of its own.
    v.pipe(Text, v.regex(/^(\/|(\/([\w.,:-]+|{\w+}))+|\/{proxy\+})$/)),
    Methods,
  ),
  components: v.strictObject({
    securitySchemes: v.strictObject({
      accessToken: v.strictObject({
        type: v.literal('apiKey'),
        name: v.literal('Authorization'),
        in: v.literal('header'),
        'x-amazon-apigateway-authtype': v.literal('custom'),
        'x-amazon-apigateway-authorizer': v.strictObject({
          type: v.literal('token'),
          authorizerUri: Uri,
          authorizerCredentials: Role,
          identityValidationExpression: Text,
          authorizerResultTtlInSeconds: v.literal(0),
        }),
      }),
      apiKey: v.optional(
        v.strictObject({
          type: v.literal('apiKey'),
          name: v.literal('x-api-key'),
          in: v.literal('header'),
        }),
      ),
    }),
  }),
  'x-amazon-apigateway-gateway-responses': v.record(
    v.picklist(responseTypes),
    v.strictObject({
      statusCode: v.optional(v.pipe(Text, v.regex(/^[45]\d\d$/))),
      responseParameters: v.record(
        v.pipe(Text, v.regex(/^gatewayresponse\.header\.[\w-]+$/)),
        Mapped,
      ),
      responseTemplates: v.strictObject({ 'application/json': Text }),
    }),
  ),
  'x-amazon-apigateway-minimum-compression-size': v.pipe(v.number(), v.maxValue(10_485_760)),
});

/** A definition of an API, as API Gateway imports it. */
export type Definition = v.InferOutput<typeof Document>;
export type Operation = v.InferOutput<typeof Operation>;

/** Returns the API of the service: the one with a definition. */
export function apiOf(template: Template) {
  const found = resources(template, 'AWS::ApiGateway::RestApi').filter(
    ([, { Properties }]) => Properties.Body !== undefined,
  );
  const [[id, { Properties }] = ['', { Properties: undefined }], ...others] = found;
  if (!Properties || others.length > 0) throw new Error('One API with a definition is expected');
  return { id, Properties };
}

/** Returns the definition of the API. Throws if it has what API Gateway does not document. */
export function definitionIn(template: Template): Definition {
  const { issues = [], output } = v.safeParse(Document, plain(apiOf(template).Properties.Body));
  if (issues.length === 0) return output as Definition;
  throw new Error(issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`).join('\n'));
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value);
  if (keys.length === 1 && /^(Ref|Fn::\w+)$/.test(`${keys}`)) return textOf(value);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

/** Returns all methods of a definition with their names, such as `GET /1/review`. */
export function methodsIn({ paths }: Definition) {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([key, operation]) => ({
      name: `${key === anyMethod ? 'ANY' : key.toUpperCase()} ${path}`,
      operation,
      integration: operation['x-amazon-apigateway-integration'],
      /** Security schemes that API Gateway demands, all of them. */
      guards: (operation.security ?? []).flatMap((each) => Object.keys(each)),
    })),
  );
}

/** Returns the name of the Lambda that a URI calls. */
export function calledBy(uri: string): string {
  return /:function:([\w-]+)\/invocations$/.exec(uri)?.[1] ?? '';
}
