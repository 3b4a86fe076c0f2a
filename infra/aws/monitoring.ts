import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import type { Route } from '../../shared/routes.ts';
import { addTopics } from './alarm-topics.ts';
import type { Api } from './api.ts';
import type { Background } from './background.ts';
import { backgroundAlarms } from './background-alarms.ts';
import { addDashboard } from './dashboard.ts';
import { metricsOf } from './metrics.ts';
import type { Options } from './options.ts';
import { outageAlarms } from './outage-alarms.ts';
import { alarmProps } from './ringing.ts';
import { serviceAlarms } from './service-alarms.ts';
import type { SignIn } from './sign-in.ts';

/** A dashboard, alarms, and two topics that tell of them. */
export class Monitoring extends Construct {
  constructor(
    scope: Construct,
    id: string,
    props: {
      api: Api;
      background: Background;
      table: ITable;
      options: Options;
      routes: readonly Route[];
      signIn: SignIn;
    },
  ) {
    super(scope, id);
    const { background, table, options, signIn } = props;
    const topics = addTopics(this, options);
    const metrics = metricsOf(this, props, options.name);
    for (const ringing of [
      ...outageAlarms(metrics, options),
      ...serviceAlarms(metrics, table, options, signIn.mailed),
      ...backgroundAlarms(metrics, background, options.name),
    ]) {
      const alarm = new Alarm(this, ringing.id, alarmProps(ringing));
      const action = topics[ringing.urgency];
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
    addDashboard(this, metrics, { background, name: options.name });
  }
}
