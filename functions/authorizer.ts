import type {
  APIGatewayAuthorizerResult,
  APIGatewayTokenAuthorizerEvent,
  StatementEffect,
} from 'aws-lambda';
import { matchRoute } from '../shared/http/match-route.ts';
import { openToken, type TokenContent } from '../shared/oauth/credentials.ts';
import { scopesOf } from '../shared/oauth/grant.ts';
import { findGrant } from '../shared/oauth/grant-repository.ts';

/**
 * Authorizes an access token for the requested route only. API Gateway turns `Unauthorized` into
 * 401, and a denial into 403, whose text is in the context.
 */
export async function handler({
  authorizationToken,
  methodArn,
}: APIGatewayTokenAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
  const token = await openToken('access', authorizationToken.replace(/^bearer +/i, ''));
  if (!token || token.expires_at <= Date.now() / 1000) throw new Error('Unauthorized');
  const [, , method = '', ...path] = methodArn.split('/');
  const grant = await currentGrant(token, method);
  if (!grant) throw new Error('Unauthorized');

  const scopes = scopesOf(grant, token);
  const access = matchRoute(method, path.join('/'))?.route.access;
  if (access === 'token' || (access && access !== 'public' && scopes.includes(access))) {
    return policy('Allow', methodArn, grant.user_id, {
      user_id: grant.user_id,
      client_id: grant.client_id,
      scope: scopes.join(' '),
    });
  }
  return policy('Deny', methodArn, grant.user_id, {
    description: `The access token lacks the scope ${access}`,
    challenge: `Bearer realm="review", error="insufficient_scope", scope="${access}"`,
  });
}

/**
 * Reads the grant of a token: from a replica for GET, at half the cost, consistently for writes.
 * A replica may lag, so a grant missing there is read again consistently.
 */
async function currentGrant(token: TokenContent, method: string) {
  const known = method === 'GET' ? await findGrant(token) : undefined;
  return known ?? findGrant(token, { consistent: true });
}

function policy(
  Effect: StatementEffect,
  methodArn: string,
  principalId: string,
  context: Record<string, string>,
): APIGatewayAuthorizerResult {
  // IAM accepts at most 512 characters. A longer path matches no route, but still needs its 404.
  const Resource = methodArn.length > 512 ? `${methodArn.slice(0, 511)}*` : methodArn;
  return {
    principalId,
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Action: 'execute-api:Invoke', Effect, Resource }],
    },
    context,
  };
}
