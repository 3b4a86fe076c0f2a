import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import { acknowledge } from './nag.ts';

/**
 * `/.well-known/security.txt` of a domain (RFC 9116). It has an API of its own, because a mapping
 * of the service's API would show all its routes below `/.well-known` too.
 */
export class SecurityText extends Construct {
  constructor(
    scope: Construct,
    id: string,
    props: { name: apigateway.DomainName; domain: string; securityContact: string },
  ) {
    super(scope, id);
    const { name, domain, securityContact } = props;
    const restApi = new apigateway.RestApi(this, 'RestApi', {
      endpointTypes: [apigateway.EndpointType.REGIONAL],
      disableExecuteApiEndpoint: true,
      cloudWatchRole: false,
      deployOptions: { stageName: 'text', throttlingRateLimit: 5, throttlingBurstLimit: 20 },
    });
    // API Gateway answers by itself, without a function.
    const answer = new apigateway.MockIntegration({
      requestTemplates: { 'application/json': '{"statusCode": 200}' },
      passthroughBehavior: apigateway.PassthroughBehavior.NEVER,
      integrationResponses: [
        {
          statusCode: '200',
          responseTemplates: {
            'text/plain; charset=utf-8': securityText(domain, securityContact),
          },
        },
      ],
    });
    restApi.root
      .addResource('security.txt')
      .addMethod('GET', answer, { methodResponses: [{ statusCode: '200' }] });
    acknowledge(restApi, accepted);
    name.addBasePathMapping(restApi, {
      basePath: '.well-known',
      stage: restApi.deploymentStage,
      attachToStage: true,
    });
  }
}

/** Returns the file of a domain with this contact. */
export function securityText(domain: string, securityContact: string): string {
  return [
    `Contact: ${securityContact}`,
    `Expires: ${inAYear(new Date())}`,
    `Canonical: https://${domain}/.well-known/security.txt`,
    '',
  ].join('\n');
}

/** Returns the first day of this month in the next year. RFC 9116 advises less than a year. */
function inAYear(now: Date) {
  return new Date(Date.UTC(now.getUTCFullYear() + 1, now.getUTCMonth(), 1)).toISOString();
}

/** Rules of cdk-nag that do not apply, with the reason. */
const accepted = Object.fromEntries(
  ['APIG1', 'APIG2', 'APIG3', 'APIG4', 'APIG6', 'COG4'].map((rule) => [
    rule,
    'One fixed text that anybody may read',
  ]),
);
