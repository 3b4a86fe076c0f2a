import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type App, Validations } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import { bundleFunctions } from './bundle.ts';
import { DataStack } from './data-stack.ts';
import { readOptions } from './options.ts';
import { ServiceStack } from './service-stack.ts';

/** Gives an app its two stacks, as its context chooses, with the code that `bundle` makes in its output folder; cdk-nag looks at both. Gives the two. */
export function addStacks(app: App, bundle: typeof bundleFunctions = bundleFunctions) {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const options = readOptions(app.node);
  const code = join(app.outdir, 'functions');
  // A source map that an earlier synthesis left there would be uploaded.
  rmSync(code, { recursive: true, force: true });
  const bundles = bundle(code, options.hasSourceMaps);
  const data = new DataStack(app, `${options.name}-data`, options);
  return { data, service: new ServiceStack(app, options.name, { options, data, bundles }) };
}
