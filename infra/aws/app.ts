import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type App, Validations } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import { routes as allRoutes } from '../../shared/routes.ts';
import { type SiteContent, siteFile } from '../../shared/site/content.ts';
import { bundleFunctions } from './bundle.ts';
import { DataStack } from './data-stack.ts';
import { FirewallStack } from './firewall.ts';
import { groupOf } from './function-groups.ts';
import { HealthStack } from './health-stack.ts';
import { readOptions } from './options.ts';
import { ServiceStack } from './service-stack.ts';

/** Puts the files of the site beside the code of the functions that send them. */
function addSite(bundles: ReturnType<typeof bundleFunctions>, content: SiteContent): void {
  for (const route of allRoutes) {
    if (!['show-site-page', 'show-logo'].includes(route.operation)) continue;
    const { directory = '' } = bundles.get(groupOf(route)) ?? {};
    writeFileSync(join(directory, siteFile), JSON.stringify(content));
  }
}

/**
 * Adds the stacks of an app, configured by its context. Returns those of the service and its data.
 * `bundle` writes the code to the output folder. cdk-nag checks all stacks.
 */
export function addStacks(
  app: App,
  bundle: typeof bundleFunctions = bundleFunctions,
  routes = allRoutes,
) {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const options = readOptions(app.node);
  const code = join(app.outdir, 'functions');
  // A source map left by an earlier synthesis would be uploaded.
  rmSync(code, { recursive: true, force: true });
  const bundles = bundle(code, options.sourceMaps);
  if (options.site.content) addSite(bundles, options.site.content);
  const data = new DataStack(app, `${options.name}-data`, options);
  if (options.healthCheck || (options.cdn && options.domain)) {
    new HealthStack(app, `${options.name}-health`, options);
  }
  if (options.cdn && options.firewall) new FirewallStack(app, `${options.name}-firewall`);
  return { data, service: new ServiceStack(app, options.name, { options, data, bundles, routes }) };
}
