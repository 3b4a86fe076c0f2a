import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import * as cognito from 'aws-cdk-lib/aws-cognito';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Duration, SecretValue, Token } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { DataStack } from './data-stack.ts';
import { acknowledge } from './nag.ts';
import type { Options } from './options.ts';

/** The sign-in: connects the pages and the identity provider. */
export class SignIn extends Construct {
  /** Has OIDC_LOGOUT_URL only if the provider's discovery document lacks that address. */
  readonly settings: Readonly<Record<string, string>>;
  readonly clientSecret: ISecret;
  /** People who sign up at the user pool on a day, if Cognito sends their mails. */
  readonly mailed: Metric | undefined;

  constructor(
    scope: Construct,
    id: string,
    {
      authUrl,
      data,
      options: { issuer, mailFrom },
    }: { authUrl: string; data: DataStack; options: Options },
  ) {
    super(scope, id);
    if (issuer) {
      this.settings = { OIDC_ISSUER: issuer.oidcIssuer, OIDC_CLIENT_ID: issuer.oidcClientId };
      this.clientSecret = Secret.fromSecretCompleteArn(this, 'Secret', issuer.oidcClientSecretArn);
      return;
    }
    if (!data.users) throw new Error('Without an issuer there must be a user pool');
    const { pool: userPool, domain } = data.users;
    const signedOut = `${authUrl}/account/sign-out`;
    const client = new cognito.UserPoolClient(this, 'Client', {
      userPool,
      generateSecret: true,
      preventUserExistenceErrors: true,
      supportedIdentityProviders: [cognito.UserPoolClientIdentityProvider.COGNITO],
      oAuth: {
        flows: { authorizationCodeGrant: true },
        scopes: [cognito.OAuthScope.OPENID, cognito.OAuthScope.EMAIL, cognito.OAuthScope.PROFILE],
        callbackUrls: [`${authUrl}/account/callback`],
        logoutUrls: [signedOut],
      },
    });
    // Without a branding the new sign-in page does not appear for a client.
    new cognito.CfnManagedLoginBranding(this, 'Branding', {
      userPoolId: userPool.userPoolId,
      clientId: client.userPoolClientId,
      useCognitoProvidedValues: true,
    });
    this.settings = {
      OIDC_ISSUER: userPool.userPoolProviderUrl,
      OIDC_CLIENT_ID: client.userPoolClientId,
      OIDC_LOGOUT_URL: `${domain.baseUrl()}/logout?client_id=${client.userPoolClientId}&logout_uri=${encoded(signedOut)}`,
    };
    const { userPoolId: UserPool } = userPool;
    this.mailed = mailFrom
      ? undefined
      : new Metric({
          namespace: 'AWS/Cognito',
          metricName: 'SignUpSuccesses',
          dimensionsMap: { UserPool, UserPoolClient: client.userPoolClientId },
          statistic: 'Sum',
          period: Duration.days(1),
        });
    // From CloudFormation: the construct would add a Lambda that may describe every client.
    const { attrClientSecret } = client.node.defaultChild as cognito.CfnUserPoolClient;
    this.clientSecret = new Secret(this, 'Secret', {
      description: 'The client secret of the pages at the user pool',
      secretStringValue: SecretValue.unsafePlainText(Token.asString(attrClientSecret)),
    });
    acknowledge(this.clientSecret, {
      SMG4: 'The user pool generates this secret: it changes when the client is replaced',
    });
  }
}

/** Encodes a URL, except tokens for values that only CloudFormation knows: host names. */
function encoded(url: string) {
  return url.replaceAll(':', '%3A').replaceAll('/', '%2F');
}
