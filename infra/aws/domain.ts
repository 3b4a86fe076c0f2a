import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import { CfnOutput } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { stage } from '../../shared/routes.ts';
import type { Options } from './options.ts';

/** The API under a custom domain: `https://<name>/ws/1`. Only the stage, `ws`, is mapped. */
export class Domain extends Construct {
  readonly name: apigateway.DomainName;

  constructor(
    scope: Construct,
    id: string,
    {
      restApi,
      domain,
    }: { restApi: apigateway.SpecRestApi; domain: NonNullable<Options['domain']> },
  ) {
    super(scope, id);
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
    this.name = name;

    if (domain.hostedZone) {
      const { id: hostedZoneId, name: zoneName } = domain.hostedZone;
      const zone = HostedZone.fromHostedZoneAttributes(this, 'Zone', { hostedZoneId, zoneName });
      const target = RecordTarget.fromAlias(new ApiGatewayDomain(name));
      // The dot makes the name absolute instead of relative to the zone.
      new ARecord(this, 'Address', { zone, target, recordName: `${domain.name}.` });
      new AaaaRecord(this, 'Address6', { zone, target, recordName: `${domain.name}.` });
    }
    new CfnOutput(this, 'Target', {
      description: 'The target of a CNAME record of the domain',
      value: name.domainNameAliasDomainName,
    });
  }
}
