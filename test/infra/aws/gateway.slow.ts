import { gatewayResponses, tokenExpression } from '../../../shared/http/gateway-responses.ts';
import {
  functionNameOf,
  functions,
  only,
  propertiesOf,
  resources,
  type Template,
  textOf,
  theOne,
} from '../../helpers/aws/checks.ts';
import {
  apiOf,
  definitionIn,
  withoutCors,
  wrongCalls,
  wrongMethods,
} from '../../helpers/aws/definition.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';

const { plain, everything } = await synthesized();
const { data, service } = plain;
const vote = '/1/review/{review_id}/vote';

function variables(template: Template, operation: string): Record<string, unknown> {
  const found = functions(template).find(([name]) => name === functionNameOf(operation))?.[1];
  return found?.Properties.Environment.Variables;
}

describe.each([
  ['with its defaults', plain],
  ['with every option', everything],
])('the API %s', (_, { service }) => {
  test.each([
    ['has exactly the routes of the route table, with their authorizers', wrongMethods],
    ['answers preflights on every path, sends CORS headers with its own responses', withoutCors],
    ['calls its functions by a role that may call these alone', wrongCalls],
  ])('%s', (_, faultsIn) => {
    expect(faultsIn(service)).toEqual([]);
  });
  test('is called by nobody but itself: no function lets API Gateway in by a permission', () => {
    const callers = propertiesOf(service, 'AWS::Lambda::Permission').map((each) => each.Principal);
    expect(new Set(callers)).toEqual(new Set(['events.amazonaws.com']));
  });
});

describe('the checks find', () => {
  let broken: Template;
  beforeEach(() => {
    broken = structuredClone(service);
  });

  /** The definition in the broken template, as it stands there. */
  const body = () => apiOf(broken).Properties.Body;
  /** The policies of the role of API Gateway. */
  const granted = () =>
    [
      ...propertiesOf(broken, 'AWS::IAM::Policy'),
      ...propertiesOf(broken, 'AWS::IAM::ManagedPolicy'),
    ].map(({ PolicyDocument }) => PolicyDocument.Statement[0]);

  test('a route without an authorizer', () => {
    delete body().paths[vote].put.security;
    expect(wrongMethods(broken)).toEqual([`PUT ${vote} is open, but for vote`]);
  });
  test('an open route with one', () => {
    body().paths['/1/review'].get.security = [{ accessToken: [] }];
    expect(wrongMethods(broken)).toEqual(['GET /1/review is guarded, but for public']);
  });
  test('a missing route', () => {
    const { put, ...others } = body().paths[vote];
    body().paths[vote] = { ...others, patch: put };
    expect(wrongMethods(broken)).toEqual([`PATCH ${vote} is no route`, `PUT ${vote} is missing`]);
  });
  test('a route that leads to another function', () => {
    const methods = body().paths[vote];
    methods.put['x-amazon-apigateway-integration'] =
      methods.delete['x-amazon-apigateway-integration'];
    expect(wrongMethods(broken)).toEqual([`PUT ${vote} does not lead to put-vote`]);
  });
  test('a route that leads to a function of another name', () => {
    for (const properties of propertiesOf(broken, 'AWS::Lambda::Function')) {
      if (properties.FunctionName === 'review-service-put-vote') delete properties.FunctionName;
    }
    expect(wrongMethods(broken)).toEqual([`PUT ${vote} does not lead to put-vote`]);
  });
  test.each([
    ['caches', { authorizerResultTtlInSeconds: 300 }],
    ['caches by default', { authorizerResultTtlInSeconds: undefined }],
    ['is of another type', { type: 'request' }],
  ])('an authorizer that %s', (_, changed) => {
    const { accessToken } = body().components.securitySchemes;
    Object.assign(accessToken['x-amazon-apigateway-authorizer'], changed);
    expect(wrongMethods(broken)).toEqual(['the authorizer caches, or reads no header']);
  });
  test('an authorizer that is another function', () => {
    const { accessToken } = body().components.securitySchemes;
    accessToken['x-amazon-apigateway-authorizer'].authorizerUri =
      body().paths[vote].put['x-amazon-apigateway-integration'].uri;
    expect(wrongMethods(broken)).toEqual(['the authorizer is another function']);
    expect(wrongCalls(broken)).toEqual(['review-service-authorizer: never called']);
  });
  test('a function that API Gateway may not call', () => {
    for (const statement of granted()) {
      statement.Resource = statement.Resource.filter(
        (arn: unknown) => !textOf(arn).endsWith(':review-service-put-vote'),
      );
    }
    expect(wrongCalls(broken)).toEqual(['review-service-put-vote: refused']);
  });
  test('a right to call more', () => {
    const more = { 'Fn::Sub': `${textOf(granted()[0].Resource[0]).replace(/[\w-]+$/, '')}eraser` };
    granted()[0].Resource.push(more, '*');
    expect(wrongCalls(broken)).toEqual([
      'eraser: never called',
      'lambda:InvokeFunction of *: never called',
    ]);
  });
  test('a role that others may take on, and a call without the role', () => {
    const [, { Properties }] = resources(broken, 'AWS::IAM::Role').find(([id]) =>
      /^ApiCaller/.test(id),
    ) ?? ['', { Properties: undefined }];
    Properties.AssumeRolePolicyDocument.Statement[0].Principal = { AWS: '*' };
    delete body().paths['/1/user'].get['x-amazon-apigateway-integration'].credentials;
    expect(wrongCalls(broken)).toEqual(['there are several roles, or none', 'for {"AWS":"*"}']);
  });
  test('a preflight that forbids the header of the token, and a path without one', () => {
    const [headers] = Object.values(
      body().paths['/1/user/me'].options['x-amazon-apigateway-integration'].responses,
    ).map((each) => (each as Record<string, Record<string, string>>).responseParameters);
    Object.assign(headers ?? {}, {
      'method.response.header.Access-Control-Allow-Headers': "'Content-Type'",
    });
    delete body().paths['/account'].options;
    expect(withoutCors(broken)).toEqual(['/1/user/me', '/account']);
  });
  test('a gateway response without CORS, and a path above others that is not there', () => {
    const answers = body()['x-amazon-apigateway-gateway-responses'];
    delete answers.THROTTLED.responseParameters[
      'gatewayresponse.header.Access-Control-Allow-Origin'
    ];
    delete body().paths['/1/oauth'];
    expect(withoutCors(broken)).toEqual(['/1/oauth', 'THROTTLED']);
  });
});

describe('the API', () => {
  const definition = definitionIn(service);
  const answers = Object.entries(definition['x-amazon-apigateway-gateway-responses']);

  test('keeps the id under which it was deployed first, which its address begins with', () => {
    expect(apiOf(service).id).toBe('ApiRestApiE35FEAFE');
  });
  test('is replaced as a whole, or not at all if API Gateway does not understand a part', () => {
    expect(apiOf(service).Properties).toMatchObject({ Mode: 'overwrite', FailOnWarnings: true });
  });
  test('goes live after its functions, and after the right to call them', () => {
    const [, { DependsOn }] = theOne(plain.parts.service, 'AWS::ApiGateway::Deployment');
    const ids = (type: string) => resources(plain.parts.service, type).map(([id]) => id);
    const before = [
      ...ids('AWS::CloudFormation::Stack'),
      ...ids('AWS::IAM::Policy'),
      ...ids('AWS::IAM::ManagedPolicy'),
    ];
    expect(DependsOn).toEqual(expect.arrayContaining(before));
    expect(before.length).toBeGreaterThan(4);
  });
  test('compresses responses from one kilobyte on, and treats nothing as binary', () => {
    expect(apiOf(service).Properties.MinimumCompressionSize).toBe(1024);
    expect(definition['x-amazon-apigateway-minimum-compression-size']).toBe(1024);
    expect(apiOf(service).Properties.BinaryMediaTypes).toBeUndefined();
    expect(Object.keys(definition)).not.toContain('x-amazon-apigateway-binary-media-types');
  });
  test('calls the authorizer only for values that look like tokens', () => {
    const { accessToken } = definition.components.securitySchemes;
    expect(accessToken).toMatchObject({
      name: 'Authorization',
      'x-amazon-apigateway-authorizer': { identityValidationExpression: tokenExpression },
    });
  });
  test('makes browsers use HTTPS alone, in all its own responses', () => {
    for (const [, { responseParameters }] of answers) {
      expect(responseParameters).toMatchObject({
        'gatewayresponse.header.Strict-Transport-Security': "'max-age=31536000'",
      });
    }
  });
  test('returns our error shape in all its own responses', () => {
    expect(answers.map(([type]) => type).sort()).toEqual(
      gatewayResponses.map(({ type }) => type).sort(),
    );
    for (const [, { responseTemplates }] of answers) {
      expect(JSON.parse(`${responseTemplates['application/json']}`)).toMatchObject({
        error: expect.any(String),
        description: expect.any(String),
      });
    }
  });
  test('challenges requests with a missing or bad token (RFC 6750)', () => {
    for (const [type, statusCode, error] of [
      ['UNAUTHORIZED', '401', 'invalid_token'],
      ['ACCESS_DENIED', '403', 'insufficient_scope'],
    ]) {
      expect(Object.fromEntries(answers)[`${type}`]).toMatchObject({
        statusCode,
        responseParameters: {
          'gatewayresponse.header.WWW-Authenticate': `'Bearer realm="review", error="${error}"'`,
        },
      });
    }
  });
  test('may write its log', () => {
    const { CloudWatchRoleArn } = only(service, 'AWS::ApiGateway::Account');
    const [role] = CloudWatchRoleArn['Fn::GetAtt'];
    expect(JSON.stringify(service.Resources[role]?.Properties.ManagedPolicyArns)).toContain(
      'AmazonAPIGatewayPushToCloudWatchLogs',
    );
  });
  test('has a user pool that redirects only to our pages', () => {
    const callback = `${textOf(variables(service, 'sign-in').AUTH_URL)}/account/callback`;
    const [id, { Properties: client }] = theOne(service, 'AWS::Cognito::UserPoolClient');
    expect(client.CallbackURLs.map(textOf)).toEqual([callback]);
    expect(client).toMatchObject({
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid', 'email', 'profile'],
      GenerateSecret: true,
    });
    expect(only(service, 'AWS::Cognito::ManagedLoginBranding')).toMatchObject({
      ClientId: { Ref: id },
      UseCognitoProvidedValues: true,
    });
    expect(only(data, 'AWS::Cognito::UserPoolDomain').ManagedLoginVersion).toBe(2);
  });
  test('is throttled and logged, without address, path or token', () => {
    const { MethodSettings, AccessLogSetting, StageName } = only(service, 'AWS::ApiGateway::Stage');
    expect(StageName).toBe('ws');
    expect(MethodSettings[0]).toMatchObject({
      ResourcePath: '/*',
      HttpMethod: '*',
      ThrottlingRateLimit: 500,
      ThrottlingBurstLimit: 1000,
    });
    const line = AccessLogSetting.Format.replace(/\$context\.(status|response\w+)/g, '1');
    expect(Object.keys(JSON.parse(line))).toContain('requestId');
    expect(AccessLogSetting.Format).not.toMatch(/identity|\.path\b|[Aa]uthorization|user_id/);
  });
  test('knows its own address, whatever the domain', () => {
    expect(JSON.stringify(variables(service, 'sign-in').AUTH_URL)).toContain('/ws');
    expect(variables(everything.service, 'sign-in')).toMatchObject({
      AUTH_URL: 'https://reviews.example.org/ws',
      OIDC_ISSUER: 'https://id.example.org',
    });
    expect(only(everything.service, 'AWS::ApiGateway::BasePathMapping').BasePath).toBe('ws');
    expect(resources(everything.data, 'AWS::Cognito::UserPool')).toEqual([]);
  });
});
