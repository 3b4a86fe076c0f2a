import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { CfnOutput, CfnParameter, Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { stage, version } from '../../shared/base/routes.ts';
import { acknowledge } from './nag.ts';
import type { Options } from './options.ts';
import { securityText } from './security-text.ts';

const { HTTPS_ONLY, REDIRECT_TO_HTTPS } = cloudfront.ViewerProtocolPolicy;

/** Errors that CloudFront could keep for 10 seconds, because it does so by default. */
const errors = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

/**
 * CloudFront in front of the API. It keeps what the service calls cacheable, by path, query,
 * session and token. It depends only on the id of the API, so functions may depend on its domain.
 */
export class Edge extends Construct {
  readonly distribution: cloudfront.Distribution;
  /** The key of the API for CloudFront. */
  readonly key: apigateway.ApiKey;
  /** A secret of CloudFront and API Gateway. Without it nobody is served at the API’s address. */
  readonly #key: Secret;

  constructor(
    scope: Construct,
    id: string,
    { restApi, host, options }: { restApi: apigateway.SpecRestApi; host: string; options: Options },
  ) {
    super(scope, id);
    const { domain, firewall, securityContact } = options;
    this.#key = new Secret(this, 'Key', {
      description: 'The API key that CloudFront sends to API Gateway',
      generateSecretString: { passwordLength: 40, excludePunctuation: true },
    });
    acknowledge(this.#key, {
      SMG4: 'A new key would need a deployment. It grants nothing but what everybody may ask CloudFront for',
    });
    const cachePolicy = new cloudfront.CachePolicy(this, 'Cache', {
      comment: 'As the service says, apart for each session and token',
      // Without Cache-Control nothing is kept.
      minTtl: Duration.seconds(0),
      defaultTtl: Duration.seconds(0),
      maxTtl: Duration.days(1),
      queryStringBehavior: cloudfront.CacheQueryStringBehavior.all(),
      // Behind HTTPS all cookies have this prefix.
      cookieBehavior: cloudfront.CacheCookieBehavior.allowList('__Host-session'),
      // CloudFront passes this header on only if it belongs to the key.
      headerBehavior: cloudfront.CacheHeaderBehavior.allowList('Authorization'),
      enableAcceptEncodingGzip: true,
      enableAcceptEncodingBrotli: true,
    });
    const origin = new HttpOrigin(host, {
      protocolPolicy: cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
      originSslProtocols: [cloudfront.OriginSslPolicy.TLS_V1_2],
      // API Gateway gives up after 29 s.
      readTimeout: Duration.seconds(30),
      keepaliveTimeout: Duration.seconds(60),
      customHeaders: { 'x-api-key': this.#key.secretValue.unsafeUnwrap() },
    });
    const behavior = {
      origin,
      allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
      cachePolicy,
      // API Gateway finds the API by the host.
      originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      compress: true,
    };
    // A token or a code in a request by plain HTTP is lost already, so programs are refused. People
    // who type an address get to the page.
    const forPrograms = { ...behavior, viewerProtocolPolicy: HTTPS_ONLY };
    const text = domain && securityContact && securityText(domain.name, securityContact);
    this.distribution = new cloudfront.Distribution(this, 'Distribution', {
      comment: options.name,
      defaultBehavior: { ...behavior, viewerProtocolPolicy: REDIRECT_TO_HTTPS },
      additionalBehaviors: {
        [`/${stage}${version}/*`]: forPrograms,
        [`/${stage}/oauth/*`]: forPrograms,
        ...(text && { '/.well-known/security.txt': this.#text(origin, text) }),
      },
      errorResponses: errors.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
      // North America and Europe. The others are served from there.
      priceClass: cloudfront.PriceClass.PRICE_CLASS_100,
      webAclId: firewall ? this.#firewallArn() : undefined,
      ...(domain && {
        domainNames: [domain.name],
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
        minimumProtocolVersion: cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
      }),
    });
    acknowledge(this.distribution, accepted);
    if (!firewall) acknowledge(this.distribution, noFirewall);
    if (!domain) acknowledge(this.distribution, noDomain);
    new CfnOutput(this, 'Id', {
      description: 'The id of the distribution',
      value: this.distribution.distributionId,
    });
    this.key = this.#admit(restApi);
  }

  /** Has API Gateway take requests of this distribution only. Its methods must require a key. */
  #admit(restApi: apigateway.SpecRestApi) {
    const key = new apigateway.ApiKey(this, 'ApiKey', {
      description: 'Sent by CloudFront',
      value: this.#key.secretValue.unsafeUnwrap(),
    });
    const plan = new apigateway.UsagePlan(this, 'Plan', {
      description: 'CloudFront, without limits',
    });
    plan.addApiStage({ stage: restApi.deploymentStage });
    plan.addApiKey(key);
    return key;
  }

  /** A fixed text, which CloudFront answers without the API. */
  #text(origin: HttpOrigin, text: string): cloudfront.BehaviorOptions {
    const headers = { 'content-type': { value: 'text/plain; charset=utf-8' } };
    const answer = { statusCode: 200, statusDescription: 'OK', headers, body: text };
    const answering = new cloudfront.Function(this, 'SecurityText', {
      runtime: cloudfront.FunctionRuntime.JS_2_0,
      code: cloudfront.FunctionCode.fromInline(
        `function handler() { return ${JSON.stringify(answer)}; }`,
      ),
    });
    return {
      origin,
      viewerProtocolPolicy: REDIRECT_TO_HTTPS,
      cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
      functionAssociations: [
        { eventType: cloudfront.FunctionEventType.VIEWER_REQUEST, function: answering },
      ],
    };
  }

  /**
   * A parameter, because the firewall is in us-east-1 and a template sees its own region alone.
   * CloudFormation refuses a first deployment without it, and keeps it for later ones.
   */
  #firewallArn() {
    return new CfnParameter(Stack.of(this), 'FirewallArn', {
      description: 'The output FirewallArn of the stack of the firewall, in us-east-1',
      allowedPattern: 'arn:aws[a-z-]*:wafv2:us-east-1:[0-9]{12}:global/webacl/.+',
      constraintDescription: 'the ARN of a firewall for CloudFront: see infra/aws/README.md',
    }).valueAsString;
  }
}

/** Rules of cdk-nag that do not apply, with the reasons. */
const accepted = {
  CFR1: 'The service is for every country',
  CFR3: 'The access log is that of API Gateway. A log of CloudFront would hold the addresses of people',
};
const noFirewall = {
  CFR2: 'A firewall costs from $7 a month, and $0.60 per million requests. The option `firewall` adds it',
};
const noDomain = {
  CFR4: 'AWS sets the least TLS version of a distribution without a domain. The option `domain` adds one',
};
