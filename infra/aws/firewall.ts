import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { commonHeaders, strictTransport } from '../../shared/http/response.ts';

/** Requests of one IP address in five minutes. A list page needs a handful. */
const perAddress = 3000;

/**
 * Blocks IP addresses with a bad reputation or too many requests. AWS's rules for bodies are left
 * out, because some reviews would look like an attack.
 */
export class Firewall extends Construct {
  constructor(scope: Construct, id: string, { restApi }: { restApi: RestApi }) {
    super(scope, id);
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
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'REGIONAL',
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
    new CfnWebACLAssociation(this, 'Association', {
      resourceArn: restApi.deploymentStage.stageArn,
      webAclArn: acl.attrArn,
    });
  }
}
