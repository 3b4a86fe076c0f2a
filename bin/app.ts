import { App } from 'aws-cdk-lib/core';
import { addStacks, bundle } from '../infra/aws/app.ts';

/** Synthesizes the CDK app for the account and region that the command line is signed in to. */
const app = new App();
addStacks(app, await bundle(app));
app.synth();
