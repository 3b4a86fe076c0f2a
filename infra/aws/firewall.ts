import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { type App, CfnOutput, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { commonHeaders, strictTransport } from '../../shared/core/http/response.ts';

/** Requests of one IP address in five minutes. A list page needs a handful. */
const perAddress = 3000;

/** The firewall of the API, at its stage. */
export class Firewall extends Construct {
  constructor(scope: Construct, id: string, { restApi }: { restApi: SpecRestApi }) {
    super(scope, id);
    const acl = addAcl(this, 'REGIONAL');
    new CfnWebACLAssociation(this, 'Association', {
      resourceArn: restApi.deploymentStage.stageArn,
      webAclArn: acl.attrArn,
    });
  }
}

/**
 * The firewall of CloudFront, which sees the addresses of clients there. In us-east-1 wherever the
 * service is, because CloudFront takes firewalls from there alone.
 */
export class FirewallStack extends Stack {
  constructor(scope: App, id: string) {
    super(scope, id, {
      description: 'Review service: the firewall of CloudFront',
      env: { region: 'us-east-1' },
    });
    new CfnOutput(this, 'FirewallArn', { value: addAcl(this, 'CLOUDFRONT').attrArn });
  }
}

/**
 * Adds rules that block IP addresses with a bad reputation or too many requests. AWS's rules for
 * bodies are left out, because some reviews would look like an attack.
 */
function addAcl(scope: Construct, reach: 'REGIONAL' | 'CLOUDFRONT'): CfnWebACL {
  const visible = (metricName: string) => ({
    metricName,
    cloudWatchMetricsEnabled: true,
    sampledRequestsEnabled: false,
  });
  const content = {
    error: 'too_many_requests',
    description: 'Too many requests: slow down, then try again',
  };
  const headers = Object.entries({ ...commonHeaders, ...strictTransport, 'Retry-After': '60' });
  const tooMany = {
    responseCode: 429,
    customResponseBodyKey: 'TooMany',
    responseHeaders: headers.map(([name, value]) => ({ name, value })),
  };
  return new CfnWebACL(scope, 'Acl', {
    scope: reach,
    defaultAction: { allow: {} },
    visibilityConfig: visible('Firewall'),
    customResponseBodies: {
      TooMany: { contentType: 'APPLICATION_JSON', content: JSON.stringify(content) },
    },
    rules: [
      {
        name: 'RatePerAddress',
        priority: 0,
        statement: { rateBasedStatement: { limit: perAddress, aggregateKeyType: 'IP' } },
        action: { block: { customResponse: tooMany } },
        visibilityConfig: visible('RatePerAddress'),
      },
      {
        name: 'IllRepute',
        priority: 1,
        statement: {
          managedRuleGroupStatement: {
            vendorName: 'AWS',
            name: 'AWSManagedRulesAmazonIpReputationList',
          },
        },
        overrideAction: { none: {} },
        visibilityConfig: visible('IllRepute'),
      },
    ],
  });
}
