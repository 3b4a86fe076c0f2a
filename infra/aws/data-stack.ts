import * as cognito from 'aws-cdk-lib/aws-cognito';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { type App, Aws, CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { tableDefinition } from '../../shared/base/table/definition.ts';
import { dataFormat } from '../../shared/base/table/format.ts';
import { formatOutput } from './connect.ts';
import { keepEnvironment } from './environment.ts';
import { acknowledge } from './nag.ts';
import type { Options } from './options.ts';

/** The data: table, user pool and keys. In production they stay when the stack is deleted. */
export class DataStack extends Stack {
  readonly table: dynamodb.Table;
  readonly signingKeys: Secret;
  readonly sessionKeys: Secret;
  readonly webhookKeys: Secret;
  /** Undefined if people sign in at another identity provider. */
  readonly users: { pool: cognito.UserPool; domain: cognito.UserPoolDomain } | undefined;

  constructor(scope: App, id: string, options: Options) {
    const { isProduction, issuer } = options;
    super(scope, id, {
      description: 'Review service: table, user pool and keys',
      terminationProtection: isProduction,
    });
    keepEnvironment(this, isProduction);

    const attribute = (attribute: keyof typeof tableDefinition.attributeTypes) => ({
      name: attribute,
      type: tableDefinition.attributeTypes[attribute] as dynamodb.AttributeType,
    });
    const throughput = throughputOf(options);
    // Not TableV2. A global table costs the same, but fewer tools and local emulators support it.
    this.table = new dynamodb.Table(this, 'Table', {
      partitionKey: attribute(tableDefinition.partitionKey),
      sortKey: attribute(tableDefinition.sortKey),
      timeToLiveAttribute: tableDefinition.timeToLive,
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      ...throughput,
      stream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      ...protection(isProduction),
    });
    for (const index of tableDefinition.indexes) {
      this.table.addGlobalSecondaryIndex({
        indexName: index.name,
        partitionKey: attribute(index.partitionKey),
        sortKey: attribute(index.sortKey),
        projectionType: dynamodb.ProjectionType.INCLUDE,
        nonKeyAttributes: [...index.projection],
        ...throughput,
      });
    }

    this.signingKeys = this.#keys('SigningKeys', 'Make and verify tokens', isProduction);
    this.sessionKeys = this.#keys('SessionKeys', 'Sign the sessions of the pages', isProduction);
    this.webhookKeys = this.#keys('WebhookKeys', 'Make the secrets of webhooks', isProduction);

    if (!issuer) {
      const pool = this.#userPool(options);
      const domain = pool.addDomain('Domain', {
        // The prefix must be unique in the region across all accounts.
        cognitoDomain: { domainPrefix: `${options.name}-${Aws.ACCOUNT_ID}` },
        managedLoginVersion: cognito.ManagedLoginVersion.NEWER_MANAGED_LOGIN,
      });
      this.users = { pool, domain };
    }

    // Read by the admin tool, see connect.ts.
    new CfnOutput(this, formatOutput, { value: `${dataFormat}` });
    new CfnOutput(this, 'TableName', { value: this.table.tableName });
    new CfnOutput(this, 'SigningKeysArn', { value: this.signingKeys.secretArn });
    new CfnOutput(this, 'SessionKeysArn', { value: this.sessionKeys.secretArn });
    new CfnOutput(this, 'WebhookKeysArn', { value: this.webhookKeys.secretArn });
  }

  /** Adds a secret of 64 letters and digits: 48 bytes of base64url, over 380 random bits. */
  #keys(id: string, description: string, isProduction: boolean) {
    const secret = new Secret(this, id, {
      description,
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      // Deleted if its creation is rolled back, because nothing has used the key yet.
      removalPolicy: isProduction
        ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
        : RemovalPolicy.DESTROY,
    });
    acknowledge(secret, {
      SMG4: 'An operator replaces a key with `admin key rotate`: every function reads the new key before it signs, and the old key still verifies',
    });
    return secret;
  }

  #userPool({ isProduction, mailFrom, mailDomainVerified }: Options) {
    const pool = new cognito.UserPool(this, 'UserPool', {
      selfSignUpEnabled: true,
      signInAliases: { email: true },
      autoVerify: { email: true },
      standardAttributes: { email: { required: true, mutable: true } },
      accountRecovery: cognito.AccountRecovery.EMAIL_ONLY,
      mfa: cognito.Mfa.OPTIONAL,
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
        ? cognito.UserPoolEmail.withSES({
            fromEmail: mailFrom,
            sesRegion: Aws.REGION,
            sesVerifiedDomain: mailDomainVerified ? mailFrom.split('@')[1] : undefined,
          })
        : undefined,
      featurePlan: cognito.FeaturePlan.ESSENTIALS,
      ...protection(isProduction),
    });
    acknowledge(pool, {
      COG2: 'The public signs in to write reviews: each user may choose a second factor',
      COG8: 'The plus plan costs by the user; an operator can turn it on here',
    });
    return pool;
  }
}

/** Returns the limits of a table or index, and what it serves from the beginning. */
function throughputOf({ maxUnits, warmUnits }: Options) {
  return {
    maxReadRequestUnits: maxUnits?.read,
    maxWriteRequestUnits: maxUnits?.write,
    warmThroughput: warmUnits && {
      readUnitsPerSecond: warmUnits.read,
      writeUnitsPerSecond: warmUnits.write,
    },
  };
}

/**
 * Protects a resource from deletion in production. With RETAIN_ON_UPDATE_OR_DELETE, CloudFormation
 * would try to delete it after a failed first deployment, and the rollback would fail too.
 */
function protection(deletionProtection: boolean) {
  const removalPolicy = deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
  return { deletionProtection, removalPolicy };
}
