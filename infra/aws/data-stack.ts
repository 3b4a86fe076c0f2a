import {
  AccountRecovery,
  FeaturePlan,
  ManagedLoginVersion,
  Mfa,
  UserPool,
  type UserPoolDomain,
  UserPoolEmail,
} from 'aws-cdk-lib/aws-cognito';
import {
  type AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
} from 'aws-cdk-lib/aws-dynamodb';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import {
  type App,
  Aws,
  CfnOutput,
  Duration,
  RemovalPolicy,
  Stack,
  Validations,
} from 'aws-cdk-lib/core';
import { tableDefinition } from '../../shared/table/definition.ts';
import { keepEnvironment } from './environment.ts';
import type { Options } from './options.ts';

/**
 * Of what is also protected from deletion. RETAIN_ON_UPDATE_OR_DELETE would have CloudFormation try to delete it when a first deployment
 * fails, be refused, and fail to roll back as well.
 */
const protectedPolicy = RemovalPolicy.RETAIN;

/** What must not be lost: the table, the people who can sign in, and the keys. Production keeps all of it whatever happens to the stack. */
export class DataStack extends Stack {
  readonly table: Table;
  readonly signingKeys: Secret;
  readonly sessionKeys: Secret;
  /** Undefined where people sign in at another identity provider. */
  readonly userPool: UserPool | undefined;
  /** Where the pool's pages are. */
  readonly userPoolDomain: UserPoolDomain | undefined;

  constructor(scope: App, id: string, options: Options) {
    const { isProduction, issuer, maxReadRequestUnits, maxWriteRequestUnits } = options;
    super(scope, id, {
      description: 'Review service: table, user pool and keys',
      terminationProtection: isProduction,
    });
    keepEnvironment(this, isProduction);

    const attribute = (attribute: keyof typeof tableDefinition.attributeTypes) => ({
      name: attribute,
      type: tableDefinition.attributeTypes[attribute] as AttributeType,
    });
    const caps = { maxReadRequestUnits, maxWriteRequestUnits };
    // Not TableV2: a global table costs the same, but fewer tools and local emulators know it.
    this.table = new Table(this, 'Table', {
      partitionKey: attribute(tableDefinition.partitionKey),
      sortKey: attribute(tableDefinition.sortKey),
      timeToLiveAttribute: tableDefinition.timeToLive,
      billingMode: BillingMode.PAY_PER_REQUEST,
      ...caps,
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: isProduction,
      removalPolicy: isProduction ? protectedPolicy : RemovalPolicy.DESTROY,
    });
    for (const index of tableDefinition.indexes) {
      this.table.addGlobalSecondaryIndex({
        indexName: index.name,
        partitionKey: attribute(index.partitionKey),
        sortKey: attribute(index.sortKey),
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: [...index.projection],
        ...caps,
      });
    }

    this.signingKeys = this.#keys('SigningKeys', 'Make and verify tokens', isProduction);
    this.sessionKeys = this.#keys('SessionKeys', 'Sign the sessions of the pages', isProduction);

    if (!issuer) {
      this.userPool = this.#userPool(options);
      this.userPoolDomain = this.userPool.addDomain('Domain', {
        // A prefix must be unique in the region, among everybody's.
        cognitoDomain: { domainPrefix: `${options.name}-${Aws.ACCOUNT_ID}` },
        managedLoginVersion: ManagedLoginVersion.NEWER_MANAGED_LOGIN,
      });
    }

    // The admin tool reads these: see connect.ts.
    new CfnOutput(this, 'TableName', { value: this.table.tableName });
    new CfnOutput(this, 'SigningKeysArn', { value: this.signingKeys.secretArn });
    new CfnOutput(this, 'SessionKeysArn', { value: this.sessionKeys.secretArn });
  }

  /** 64 letters and digits, which are 48 bytes of base64url with over 380 random bits. */
  #keys(id: string, description: string, isProduction: boolean): Secret {
    const secret = new Secret(this, id, {
      description,
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      // Unless its creation is rolled back: then nobody has used it yet.
      removalPolicy: isProduction
        ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
        : RemovalPolicy.DESTROY,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'An operator replaces a key with `admin key rotate`: it is brought to every function before it signs, and the old one goes on verifying',
    });
    return secret;
  }

  #userPool({ isProduction, mailFrom }: Options): UserPool {
    const pool = new UserPool(this, 'UserPool', {
      selfSignUpEnabled: true,
      signInAliases: { email: true },
      autoVerify: { email: true },
      standardAttributes: { email: { required: true, mutable: true } },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      mfa: Mfa.OPTIONAL,
      mfaSecondFactor: { otp: true, sms: false },
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
        tempPasswordValidity: Duration.days(3),
      },
      email: mailFrom
        ? UserPoolEmail.withSES({ fromEmail: mailFrom, sesRegion: Aws.REGION })
        : undefined,
      featurePlan: FeaturePlan.ESSENTIALS,
      deletionProtection: isProduction,
      removalPolicy: isProduction ? protectedPolicy : RemovalPolicy.DESTROY,
    });
    Validations.of(pool).acknowledge(
      {
        id: 'AwsSolutions-COG2',
        reason: 'The public signs in to write reviews: a second factor is theirs to choose',
      },
      {
        id: 'AwsSolutions-COG8',
        reason: 'The plus plan costs by the user; an operator who wants it turns it on here',
      },
    );
    return pool;
  }
}
