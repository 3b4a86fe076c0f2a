import { CfnParameter, CfnRule, Fn, type Stack } from 'aws-cdk-lib/core';

/**
 * Binds a stack to the environment that it was first deployed as. An update keeps the value of a parameter, and CloudFormation refuses
 * an update whose template does not allow that value, before it changes anything.
 */
export function keepEnvironment(stack: Stack, isProduction: boolean): void {
  const [environment, other] = isProduction
    ? ['production', 'development']
    : ['development', 'production'];
  const reason = `${environment}, but this stack is ${other}: deploy it with --context environment=${other}, or choose another name with --context name=...`;
  const parameter = new CfnParameter(stack, 'Environment', {
    description: 'What the stack was first deployed as, and stays',
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
