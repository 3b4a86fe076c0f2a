import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { CfnHealthCheck } from 'aws-cdk-lib/aws-route53';
import { type App, Duration, Stack } from 'aws-cdk-lib/core';
import { stage } from '../../shared/routes.ts';
import { alarmTopic } from './alarm-topic.ts';

/**
 * Asks the service from three continents whether it is well. The alarm also rings if nobody asks.
 * In us-east-1 wherever the service is, because Route 53 writes its metrics there alone.
 */
export class HealthStack extends Stack {
  constructor(
    scope: App,
    id: string,
    { host, alarmMail }: { host: string; alarmMail: string | undefined },
  ) {
    super(scope, id, {
      description: 'Review service: the check of its health from outside',
      env: { region: 'us-east-1' },
    });
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
      healthCheckTags: [{ key: 'Name', value: id }],
    });
    const alarm = new Alarm(this, 'Unreachable', {
      alarmDescription: `https://${host}/${stage}/health cannot be reached from outside or says that the service is not well`,
      metric: new Metric({
        namespace: 'AWS/Route53',
        metricName: 'HealthCheckStatus',
        dimensionsMap: { HealthCheckId: check.attrHealthCheckId },
        statistic: 'Minimum',
        period: Duration.minutes(1),
      }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      evaluationPeriods: 3,
      treatMissingData: TreatMissingData.BREACHING,
    });
    if (alarmMail) alarm.addAlarmAction(new SnsAction(alarmTopic(this, alarmMail)));
  }
}
