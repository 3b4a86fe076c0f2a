import { type App, CfnOutput, Stack } from 'aws-cdk-lib/core';
import { type Route, version } from '../../shared/base/routes.ts';
import { dataSettingsIn } from '../settings.ts';
import { Api } from './api.ts';
import { Background } from './background.ts';
import { Budget } from './budget.ts';
import { settingsOutput } from './connect.ts';
import type { DataStack } from './data-stack.ts';
import { Domain } from './domain.ts';
import { keepEnvironment } from './environment.ts';
import { Firewall } from './firewall.ts';
import { Monitoring } from './monitoring.ts';
import { SavedQueries } from './saved-queries.ts';
import { SecurityText } from './security-text.ts';
import { SignIn } from './sign-in.ts';
import type { FunctionDefaults } from './table-function.ts';

/** All resources without data. It can be deleted and deployed again; the API's address changes. */
export class ServiceStack extends Stack {
  constructor(
    scope: App,
    id: string,
    props: Pick<FunctionDefaults, 'options' | 'bundles'> & {
      data: DataStack;
      routes: readonly Route[];
    },
  ) {
    super(scope, id, { description: 'Review service: API, functions and alarms' });
    const { options, data, bundles, routes } = props;
    const { table, signingKeys, sessionKeys, webhookKeys } = data;
    const { isProduction, domain, securityContact, firewall, cdn, budget } = options;
    keepEnvironment(this, isProduction);

    const api = new Api(this, 'Api', { options, routes });
    const signIn = new SignIn(this, 'SignIn', { authUrl: api.url, data, options });
    const defaults = {
      options,
      bundles,
      table,
      secrets: {
        SIGNING_KEYS: signingKeys,
        SESSION_KEYS: sessionKeys,
        WEBHOOK_KEYS: webhookKeys,
        OIDC_CLIENT_SECRET: signIn.clientSecret,
      },
      settings: {
        AUTH_URL: api.url,
        // An address at execute-api needs no certificate, DNS or key of ours.
        OWN_ADDRESS: domain || cdn ? api.url : '',
        ...signIn.settings,
        ...options.settings,
      },
    };
    api.addFunctions(defaults);
    const background = new Background(this, 'Background', defaults);
    const { mailed } = signIn;
    new Monitoring(this, 'Monitoring', { api, background, table, options, routes, mailed });
    new SavedQueries(this, 'Queries', { name: options.name, accessLog: api.accessLog });
    if (domain) {
      const { restApi, edge } = api;
      const distribution = edge?.distribution;
      const { name, addresses } = new Domain(this, 'Domain', { restApi, domain, distribution });
      // The key of CloudFront is demanded once people are led to it. Otherwise everybody would be
      // refused while it is made, which takes minutes, and for good if that fails. An address that
      // was closed is open before CloudFront leads people there.
      if (distribution && !options.openAddress) api.goesLiveAfter(...addresses);
      if (distribution && options.openAddress) api.goesLiveBefore(...addresses);
      // CloudFront answers this by itself, and has the firewall.
      if (name && securityContact) {
        new SecurityText(this, 'SecurityText', { name, domain: domain.name, securityContact });
      }
    }
    if (api.edge) api.goesLiveAfter(api.edge.distribution, api.edge.key);
    if (budget) new Budget(this, 'Budget', budget);
    if (firewall && !cdn) new Firewall(this, 'Firewall', { restApi: api.restApi });

    new CfnOutput(this, 'BaseUrl', { value: api.url + version });
    new CfnOutput(this, 'AuthUrl', { value: api.url });
    new CfnOutput(this, 'OidcIssuer', { value: `${signIn.settings.OIDC_ISSUER}` });
    new CfnOutput(this, 'OidcClientId', { value: `${signIn.settings.OIDC_CLIENT_ID}` });
    new CfnOutput(this, 'OidcClientSecretArn', { value: signIn.clientSecret.secretArn });
    // Read by the admin tool, see connect.ts.
    new CfnOutput(this, settingsOutput, {
      value: JSON.stringify(dataSettingsIn(options.settings)),
    });
  }
}
