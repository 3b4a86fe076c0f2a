import type { APIGatewayProxyEvent } from 'aws-lambda';
import { tokenExpression } from '../../shared/http/gateway-responses.ts';
import { stage } from '../../shared/routes.ts';
import { GatewayError } from './gateway-error.ts';
import { invoke, type Load } from './invoke.ts';

/**
 * Calls the authorizer as API Gateway calls a TOKEN authorizer without a cache. Returns the value
 * of `requestContext.authorizer`. Throws GatewayError if the token is refused.
 */
export async function authorize(
  event: APIGatewayProxyEvent,
  load: Load,
  timeout: number,
): Promise<Record<string, string>> {
  const name = Object.keys(event.headers).find((name) => name.toLowerCase() === 'authorization');
  const authorizationToken = event.headers[name ?? ''] ?? '';
  if (!new RegExp(tokenExpression).test(authorizationToken)) throw new GatewayError('UNAUTHORIZED');

  const methodArn = `arn:aws:execute-api:local:000000000000:local/${stage}/${event.httpMethod}${event.path}`;
  let result: unknown;
  try {
    const request = { type: 'TOKEN', authorizationToken, methodArn };
    result = await invoke(await load('authorizer'), 'authorizer', request, timeout);
  } catch (error) {
    if (error instanceof Error && error.message === 'Unauthorized') {
      throw new GatewayError('UNAUTHORIZED');
    }
    console.error(`${event.requestContext.requestId}: authorizer:`, error);
    throw new GatewayError('AUTHORIZER_FAILURE');
  }
  const { principalId, policyDocument, context = {} } = result as AuthorizerPolicy;
  const authorizer = {
    ...Object.fromEntries(Object.entries(context).map(([name, value]) => [name, `${value}`])),
    principalId,
  };
  if (!policyDocument.Statement.every((statement) => allows(statement, methodArn))) {
    throw new GatewayError('ACCESS_DENIED', 403, authorizer);
  }
  return authorizer;
}

/** The policy of our authorizer. A resource is the route itself, or a prefix of its path. */
interface AuthorizerPolicy {
  principalId: string;
  policyDocument: { Statement: readonly Statement[] };
  context?: Record<string, string | number | boolean>;
}

interface Statement {
  Effect: string;
  Resource: string;
}

function allows({ Effect, Resource }: Statement, methodArn: string): boolean {
  const covers = Resource.endsWith('*')
    ? methodArn.startsWith(Resource.slice(0, -1))
    : methodArn === Resource;
  return Effect === 'Allow' && covers;
}
