import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import { bundleFunctions } from '../infra/aws/bundle.ts';
import { DataStack } from '../infra/aws/data-stack.ts';
import { readOptions } from '../infra/aws/options.ts';
import { ServiceStack } from '../infra/aws/service-stack.ts';

/** The CDK app: two stacks, for whatever account and region the command line is signed in to. */
const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));

const options = readOptions(app.node);
const code = join(app.outdir, 'functions');
// A source map that an earlier synthesis left there would be uploaded.
rmSync(code, { recursive: true, force: true });
const bundles = bundleFunctions(code, options.hasSourceMaps);
const data = new DataStack(app, `${options.name}-data`, options);
new ServiceStack(app, options.name, { options, data, bundles });

app.synth();
