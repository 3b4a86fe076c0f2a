import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnHealthCheck } from 'aws-cdk-lib/aws-route53';
import { type App, Duration, Stack } from 'aws-cdk-lib/core';
import { stage } from '../../shared/base/routes.ts';
import { expiry, type Ringing } from './alarms.ts';
import { addAlarms } from './monitoring.ts';
import type { Options } from './options.ts';

/**
 * Asks the service from three continents whether it is well, and watches the certificate of
 * CloudFront. In us-east-1 wherever the service is, because Route 53 writes its metrics there
 * alone, and CloudFront takes certificates from there.
 */
export class HealthStack extends Stack {
  constructor(scope: App, id: string, options: Options) {
    super(scope, id, {
      description: 'Review service: the check of its health from outside',
      env: { region: 'us-east-1' },
    });
    const { healthCheck: host, cdn, domain } = options;
    addAlarms(this, options, [
      ...(host ? [this.#unreachable(id, host)] : []),
      ...(cdn && domain ? [expiry(domain.certificateArn)] : []),
    ]);
  }

  /** Adds the check. Its alarm also rings if nobody asks. */
  #unreachable(name: string, host: string): Ringing {
    const check = new CfnHealthCheck(this, 'Check', {
      healthCheckConfig: {
        type: 'HTTPS',
        fullyQualifiedDomainName: host,
        port: 443,
        resourcePath: `/${stage}/health`,
        enableSni: true,
        requestInterval: 30,
        failureThreshold: 3,
        // The least number of regions. Each request costs what any request costs.
        regions: ['us-east-1', 'eu-west-1', 'ap-southeast-1'],
      },
      healthCheckTags: [{ key: 'Name', value: name }],
    });
    return {
      id: 'Unreachable',
      urgency: 'page',
      metric: new Metric({
        namespace: 'AWS/Route53',
        metricName: 'HealthCheckStatus',
        dimensionsMap: { HealthCheckId: check.attrHealthCheckId },
        statistic: 'Minimum',
        period: Duration.minutes(1),
      }),
      description: `https://${host}/${stage}/health cannot be reached from outside or says that the service is not well`,
      below: 1,
      periods: 3,
      isMissingBad: true,
    };
  }
}
