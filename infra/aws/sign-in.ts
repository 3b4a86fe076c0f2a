import {
  CfnManagedLoginBranding,
  type CfnUserPoolClient,
  OAuthScope,
  type UserPool,
  UserPoolClient,
  UserPoolClientIdentityProvider,
  type UserPoolDomain,
} from 'aws-cdk-lib/aws-cognito';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { SecretValue, Token, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Options } from './options.ts';

export interface SignInProps {
  /** {auth_url} */
  authUrl: string;
  userPool: UserPool | undefined;
  userPoolDomain: UserPoolDomain | undefined;
  issuer: Options['issuer'];
}

/** Where people sign in: how the pages know the identity provider, and how it knows them. */
export class SignIn extends Construct {
  /** OIDC_LOGOUT_URL only where the provider has an address to sign out at that its discovery document does not name. */
  readonly settings: Readonly<Record<string, string>>;
  readonly clientSecret: ISecret;

  constructor(scope: Construct, id: string, props: SignInProps) {
    super(scope, id);
    const { authUrl, userPool, userPoolDomain, issuer } = props;
    if (issuer) {
      this.settings = { OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: issuer.clientId };
      this.clientSecret = Secret.fromSecretCompleteArn(this, 'Secret', issuer.clientSecretArn);
      return;
    }
    if (!userPool || !userPoolDomain) {
      throw new Error('Without an issuer there must be a user pool and its domain');
    }
    const signedOut = `${authUrl}/account/sign-out`;
    const client = new UserPoolClient(this, 'Client', {
      userPool,
      generateSecret: true,
      preventUserExistenceErrors: true,
      supportedIdentityProviders: [UserPoolClientIdentityProvider.COGNITO],
      oAuth: {
        flows: { authorizationCodeGrant: true },
        scopes: [OAuthScope.OPENID, OAuthScope.EMAIL, OAuthScope.PROFILE],
        callbackUrls: [`${authUrl}/account/callback`],
        logoutUrls: [signedOut],
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
      OIDC_LOGOUT_URL: `${userPoolDomain.baseUrl()}/logout?client_id=${client.userPoolClientId}&logout_uri=${encoded(signedOut)}`,
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

/** As encodeURIComponent, which would also encode what stands for values that only CloudFormation knows; those are names of hosts. */
function encoded(url: string): string {
  return url.replaceAll(':', '%3A').replaceAll('/', '%2F');
}
