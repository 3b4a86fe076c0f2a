import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda';
import { notingColdStart } from '../../shared/core/http/cold-start.ts';
import { matchRoute } from '../../shared/core/http/match-route.ts';
import { openToken } from '../../shared/core/oauth/credentials.ts';
import { scopesOf } from '../../shared/core/oauth/grant.ts';
import { findGrant } from '../../shared/core/oauth/grant-repository.ts';

/**
 * Authorizes an access token for the requested route only. API Gateway turns `Unauthorized` into
 * 401, and a denial into 403, whose text is in the context.
 */
export const handler = notingColdStart(
  async ({
    authorizationToken,
    methodArn,
  }: APIGatewayTokenAuthorizerEvent): Promise<APIGatewayAuthorizerResult> => {
    const token = await openToken('access', authorizationToken.replace(/^bearer +/i, ''));
    if (!token) throw refusal('not ours');
    if (token.expires_at <= Date.now() / 1000) throw refusal('expired', token);
    const [, , method = '', ...path] = methodArn.split('/');
    // A replica costs half and may lag: a write, or a grant missing there, is read consistently.
    const replica = method === 'GET' ? await findGrant(token) : undefined;
    const grant = replica ?? (await findGrant(token, { consistent: true }));
    if (!grant) throw refusal('revoked', token);

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
  },
);

/** Logs why a token is refused, and its client if the token is ours. The response says neither. */
function refusal(
  reason: 'not ours' | 'expired' | 'revoked',
  { client_id }: { client_id?: string } = {},
): Error {
  console.info({ message: 'Access token refused', reason, client_id });
  return new Error('Unauthorized');
}

function policy(
  Effect: 'Allow' | 'Deny',
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
