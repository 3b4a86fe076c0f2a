import type { IAlarmAction } from 'aws-cdk-lib/aws-cloudwatch';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import type { Route } from '../../shared/routes.ts';
import { type AlarmTopics, addTopics } from './alarm-topics.ts';
import type { Api } from './api.ts';
import type { Background } from './background.ts';
import { backgroundAlarms } from './background-alarms.ts';
import { addDashboard } from './dashboard.ts';
import { metricsOf } from './metrics.ts';
import type { Options } from './options.ts';
import { outageAlarms, refusedTokens } from './outage-alarms.ts';
import { alarmProps, type Ringing, type Urgency } from './ringing.ts';
import { serviceAlarms } from './service-alarms.ts';

/** A dashboard, alarms, and two topics that tell of them. */
export class Monitoring extends Construct {
  readonly #topics: AlarmTopics;

  constructor(
    scope: Construct,
    id: string,
    props: {
      api: Api;
      background: Background;
      table: ITable;
      options: Options;
      routes: readonly Route[];
    },
  ) {
    super(scope, id);
    const { background, table, options } = props;
    this.#topics = addTopics(this, options);
    const metrics = metricsOf(this, props, options.name);
    for (const ringing of [
      ...outageAlarms(metrics, options),
      ...serviceAlarms(metrics, table),
      ...backgroundAlarms(metrics, background, options.name),
    ]) {
      this.#add(ringing);
    }
    const { now, before } = refusedTokens(metrics);
    const both = [this.#add(now), this.#add(before)].map((alarm) =>
      cloudwatch.AlarmRule.fromAlarm(alarm, cloudwatch.AlarmState.ALARM),
    );
    const refused = new cloudwatch.CompositeAlarm(this, 'RefusedTokens', {
      alarmDescription:
        'Nearly all access tokens are refused, and most were accepted the day before: the signing keys are wrong',
      alarmRule: cloudwatch.AlarmRule.allOf(...both),
    });
    this.#tell(refused, 'page');
    addDashboard(this, metrics, { background, name: options.name });
  }

  #add(ringing: Ringing) {
    const alarm = new cloudwatch.Alarm(this, ringing.id, alarmProps(ringing));
    if (ringing.urgency) this.#tell(alarm, ringing.urgency);
    return alarm;
  }

  #tell(alarm: cloudwatch.AlarmBase, urgency: Urgency) {
    const action: IAlarmAction = this.#topics[urgency];
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
  }
}
