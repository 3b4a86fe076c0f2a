import { CfnParameter, CfnRule, Fn, type Stack } from 'aws-cdk-lib/core';

/**
 * Binds a stack to the environment of its first deployment. An update keeps a parameter's value.
 * CloudFormation refuses the update if the template does not allow that value.
 */
export function keepEnvironment(stack: Stack, isProduction: boolean): void {
  const environment = isProduction ? 'production' : 'development';
  const other = isProduction ? 'development' : 'production';
  const reason = `${environment}, but this stack is ${other}: deploy it with --context environment=${other}, or choose another name with --context name=...`;
  const parameter = new CfnParameter(stack, 'Environment', {
    description: 'The environment of the first deployment, which cannot change',
    default: environment,
    allowedValues: [environment],
    constraintDescription: reason,
  });
  new CfnRule(stack, 'KeepsEnvironment', {
    assertions: [
      {
        assert: Fn.conditionEquals(parameter.valueAsString, environment),
        assertDescription: `Environment must be ${reason}`,
      },
    ],
  });
}
