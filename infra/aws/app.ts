import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type App, Validations } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import { routes as allRoutes } from '../../shared/base/routes.ts';
import { type SiteContent, siteFile } from '../../shared/base/site/content.ts';
import { bundleFunctions } from './bundle.ts';
import { DataStack } from './data-stack.ts';
import { FirewallStack } from './firewall.ts';
import { groupOf } from './function-groups.ts';
import { HealthStack } from './health-stack.ts';
import { readOptions } from './options.ts';
import { ServiceStack } from './service-stack.ts';

/** Folders of code by the names of Lambdas. */
type Bundles = ReadonlyMap<string, string>;

/** Puts the files of the site beside the code of the functions that send them. */
function addSite(bundles: Bundles, content: SiteContent): void {
  for (const route of allRoutes) {
    if (!['show-site-page', 'show-logo'].includes(route.operation)) continue;
    const directory = bundles.get(groupOf(route)) ?? '';
    writeFileSync(join(directory, siteFile), JSON.stringify(content));
  }
}

/** Writes the code of all functions to the output folder of an app. */
export function bundle(app: App): Promise<Bundles> {
  const code = join(app.outdir, 'functions');
  // A file left by an earlier synthesis would be uploaded.
  rmSync(code, { recursive: true, force: true });
  return bundleFunctions(code);
}

/**
 * Adds the stacks of an app, configured by its context. Returns those of the service and its data.
 * cdk-nag checks all stacks.
 */
export function addStacks(app: App, bundles: Bundles, routes = allRoutes) {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const options = readOptions(app.node);
  if (options.siteContent) addSite(bundles, options.siteContent);
  const data = new DataStack(app, `${options.name}-data`, options);
  if (options.healthCheck || (options.cdn && options.domain)) {
    new HealthStack(app, `${options.name}-health`, options);
  }
  if (options.cdn && options.firewall) new FirewallStack(app, `${options.name}-firewall`);
  return { data, service: new ServiceStack(app, options.name, { options, data, bundles, routes }) };
}
