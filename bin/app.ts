import { App } from 'aws-cdk-lib/core';
import { addStacks } from '../infra/aws/app.ts';

/** Synthesizes the CDK app for the account and region that the command line is signed in to. */
const app = new App();
addStacks(app);
app.synth();
