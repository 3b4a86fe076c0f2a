import { pathOf, propertiesOf, references, type Template, textOf, theOne } from './checks.ts';
import { isLike } from './roles.ts';

/** A call by API Gateway. `source` is the ARN that Lambda compares with permissions. */
interface Call {
  function: string;
  source: string;
}

/** Returns the prefix of all ARNs of the one API of a template. */
function arnOf(template: Template): string {
  const [api] = theOne(template, 'AWS::ApiGateway::RestApi');
  return `arn:\${AWS::Partition}:execute-api:\${AWS::Region}:\${AWS::AccountId}:\${${api}}`;
}

function calledBy(template: Template, uri: unknown): string {
  const isFunction = (id: string) => template.Resources[id]?.Type === 'AWS::Lambda::Function';
  return references(uri).find(isFunction) ?? 'nothing';
}

/** Lists each call that API Gateway makes: every method, with and without a slash at the end. */
function callsIn(template: Template): Call[] {
  const api = arnOf(template);
  const methods = propertiesOf(template, 'AWS::ApiGateway::Method')
    .filter(({ Integration }) => Integration.Type !== 'MOCK')
    .flatMap(({ HttpMethod, ResourceId, Integration }) => {
      const path = pathOf(template, ResourceId).replaceAll(/{.+?}/g, '0b1f-x');
      const method = HttpMethod === 'ANY' ? 'PATCH' : HttpMethod;
      return [path, `${path}/`].map((sent) => ({
        function: calledBy(template, Integration.Uri),
        source: `${api}/ws/${method}${sent}`,
      }));
    });
  const authorizers = propertiesOf(template, 'AWS::ApiGateway::Authorizer').map(
    ({ AuthorizerUri }) => ({
      function: calledBy(template, AuthorizerUri),
      source: `${api}/authorizers/a1b2c3`,
    }),
  );
  return [...methods, ...authorizers];
}

/** Functions that API Gateway may call. `source` is a pattern. */
export function permissionsIn(template: Template): Call[] {
  return propertiesOf(template, 'AWS::Lambda::Permission')
    .filter(({ Principal }) => Principal === 'apigateway.amazonaws.com')
    .map(({ FunctionName, SourceArn }) => ({
      function: references(FunctionName).join(),
      source: textOf(SourceArn ?? 'anybody'),
    }));
}

/**
 * Lists calls of API Gateway that no permission allows, and permissions that no call needs or that
 * apply to more than one API.
 */
export function wrongCalls(template: Template): string[] {
  const calls = callsIn(template);
  const permissions = permissionsIn(template);
  const allows = (permission: Call, call: Call) =>
    permission.function === call.function && isLike(call.source, permission.source);
  const isNeeded = (permission: Call) =>
    permission.source.startsWith(`${arnOf(template)}/`) &&
    calls.some((call) => allows(permission, call));
  const refused = calls.filter((call) => !permissions.some((each) => allows(each, call)));
  return [
    ...new Set(refused.map((call) => `${call.function} refuses ${call.source.split('/ws').pop()}`)),
    ...permissions
      .filter((each) => !isNeeded(each))
      .map((each) => `${each.function} takes ${each.source.split('}/').pop()}`),
  ];
}
