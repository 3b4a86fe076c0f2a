import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront';
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain, CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets';
import { CfnOutput } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { stage } from '../../shared/base/routes.ts';
import type { Options } from './options.ts';

/** The API under a custom domain: `https://<name>/ws/1`. Only the stage, `ws`, is mapped. */
export class Domain extends Construct {
  /** The domain at API Gateway. CloudFront, if there is one, has the domain itself. */
  readonly name: apigateway.DomainName | undefined;
  /** The addresses of the domain, if its zone is given. */
  readonly addresses: readonly Construct[];

  constructor(
    scope: Construct,
    id: string,
    {
      restApi,
      domain,
      distribution,
    }: {
      restApi: apigateway.SpecRestApi;
      domain: NonNullable<Options['domain']>;
      distribution: Distribution | undefined;
    },
  ) {
    super(scope, id);
    const target = distribution
      ? {
          name: undefined,
          alias: new CloudFrontTarget(distribution),
          host: distribution.distributionDomainName,
        }
      : this.#atGateway(restApi, domain);
    this.name = target.name;
    this.addresses = [];
    if (domain.hostedZoneId) {
      const zone = HostedZone.fromHostedZoneId(this, 'Zone', domain.hostedZoneId);
      // One pair with either target: Route 53 refuses a second record of a name, and CloudFormation
      // would make the new one before it deletes the old one. The dot makes the name absolute.
      const record = {
        zone,
        target: RecordTarget.fromAlias(target.alias),
        recordName: `${domain.name}.`,
      };
      this.addresses = [
        new ARecord(this, 'Address', record),
        new AaaaRecord(this, 'Address6', record),
      ];
      // They lead to API Gateway once it knows the domain, and asks for no key of CloudFront.
      if (target.name) for (const each of this.addresses) each.node.addDependency(target.name);
    }
    new CfnOutput(this, 'Target', {
      description: 'The target of a CNAME record of the domain',
      value: target.host,
    });
  }

  #atGateway(restApi: apigateway.SpecRestApi, domain: NonNullable<Options['domain']>) {
    const name = new apigateway.DomainName(this, 'Name', {
      domainName: domain.name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      endpointType: apigateway.EndpointType.REGIONAL,
      securityPolicy: apigateway.SecurityPolicy.TLS_1_2,
    });
    // The construct has no property for this. Without it an AAAA record would lead nowhere.
    (name.node.defaultChild as apigateway.CfnDomainName).addPropertyOverride(
      'EndpointConfiguration.IpAddressType',
      'dualstack',
    );
    name.addBasePathMapping(restApi, { basePath: stage, stage: restApi.deploymentStage });
    return { name, alias: new ApiGatewayDomain(name), host: name.domainNameAliasDomainName };
  }
}
