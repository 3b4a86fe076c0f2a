import type {
  APIGatewayAuthorizerResult,
  APIGatewayTokenAuthorizerEvent,
  StatementEffect,
} from 'aws-lambda';
import { matchRoute } from '../shared/http/match-route.ts';
import { openToken, type TokenContent } from '../shared/oauth/credentials.ts';
import { type Grant, scopesOf } from '../shared/oauth/grant.ts';
import { findGrant } from '../shared/oauth/grant-repository.ts';

/**
 * Lets the bearer of an access token through to the one route that was asked for. API Gateway answers 401 when this throws
 * `Unauthorized`, and 403 when it denies. The context tells the 403 which scope is missing.
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
 * The grant of a token, read consistently for what writes. A GET is content with a replica, which costs half and may be a moment behind.
 * A grant that the replica does not know is read again, because a new token may be used before every replica knows its grant.
 */
async function currentGrant(token: TokenContent, method: string): Promise<Grant | undefined> {
  const known = method === 'GET' ? await findGrant(token) : undefined;
  return known ?? findGrant(token, { consistent: true });
}

function policy(
  Effect: StatementEffect,
  methodArn: string,
  principalId: string,
  context: Record<string, string>,
): APIGatewayAuthorizerResult {
  // IAM takes at most 512 characters. A longer path is no route of ours, but deserves its 404.
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
