import {
  CfnManagedLoginBranding,
  type CfnUserPoolClient,
  OAuthScope,
  type UserPool,
  UserPoolClient,
  UserPoolClientIdentityProvider,
} from 'aws-cdk-lib/aws-cognito';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { SecretValue, Token, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Options } from './options.ts';

export interface SignInProps {
  /** {auth_url} */
  authUrl: string;
  userPool: UserPool | undefined;
  issuer: Options['issuer'];
}

/** Where people sign in: how the pages know the identity provider, and how it knows them. */
export class SignIn extends Construct {
  readonly settings: Readonly<Record<'OIDC_ISSUER' | 'OIDC_CLIENT_ID', string>>;
  readonly clientSecret: ISecret;

  constructor(scope: Construct, id: string, { authUrl, userPool, issuer }: SignInProps) {
    super(scope, id);
    if (issuer) {
      this.settings = { OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: issuer.clientId };
      this.clientSecret = Secret.fromSecretCompleteArn(this, 'Secret', issuer.clientSecretArn);
      return;
    }
    if (!userPool) throw new Error('Without an issuer there must be a user pool');
    const client = new UserPoolClient(this, 'Client', {
      userPool,
      generateSecret: true,
      preventUserExistenceErrors: true,
      supportedIdentityProviders: [UserPoolClientIdentityProvider.COGNITO],
      oAuth: {
        flows: { authorizationCodeGrant: true },
        scopes: [OAuthScope.OPENID, OAuthScope.EMAIL, OAuthScope.PROFILE],
        callbackUrls: [`${authUrl}/account/callback`],
        logoutUrls: [`${authUrl}/account`],
      },
    });
    // Without a style the new sign-in page does not appear for a client.
    new CfnManagedLoginBranding(this, 'Branding', {
      userPoolId: userPool.userPoolId,
      clientId: client.userPoolClientId,
      useCognitoProvidedValues: true,
    });
    this.settings = {
      OIDC_ISSUER: userPool.userPoolProviderUrl,
      OIDC_CLIENT_ID: client.userPoolClientId,
    };
    // Straight from CloudFormation: the construct's own way to it is a Lambda that may describe every client.
    const { attrClientSecret } = client.node.defaultChild as CfnUserPoolClient;
    this.clientSecret = new Secret(this, 'Secret', {
      description: 'What the pages prove themselves with at the user pool',
      secretStringValue: SecretValue.unsafePlainText(Token.asString(attrClientSecret)),
    });
    Validations.of(this.clientSecret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'The user pool made it: it changes when the client is replaced',
    });
  }
}
