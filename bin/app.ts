import { App } from 'aws-cdk-lib/core';
import { addStacks } from '../infra/aws/app.ts';

/** The CDK app, for whatever account and region the command line is signed in to. */
const app = new App();
addStacks(app);
app.synth();
