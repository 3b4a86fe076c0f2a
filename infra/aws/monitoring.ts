import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import type { Route } from '../../shared/routes.ts';
import { addAlarms } from './alarm-topics.ts';
import type { Api } from './api.ts';
import type { Background } from './background.ts';
import { backgroundAlarms } from './background-alarms.ts';
import { addDashboard } from './dashboard.ts';
import { metricsOf } from './metrics.ts';
import type { Options } from './options.ts';
import { outageAlarms } from './outage-alarms.ts';
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
    const metrics = metricsOf(this, props, options.name);
    addAlarms(this, options, [
      ...outageAlarms(metrics, options),
      ...serviceAlarms(metrics, table, options, signIn.mailed),
      ...backgroundAlarms(metrics, background, options.name),
    ]);
    addDashboard(this, metrics, { background, name: options.name });
  }
}
