import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { findQuotaProblem } from '../../../infra/aws/quotas.ts';

const lambda = mockClient(LambdaClient);

/** Says what the account may do. */
function account(executions: number) {
  const AccountLimit = { ConcurrentExecutions: executions };
  lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit });
}

beforeEach(() => {
  lambda.reset();
});

const plan = { region: 'eu-north-1', reserved: 0 };

test('an account with the usual quotas has no problem', async () => {
  account(1000);
  expect(await findQuotaProblem(plan)).toBeUndefined();
  expect(await findQuotaProblem({ ...plan, reserved: 900 })).toBeUndefined();
});

test('a young account is told how to ask for more executions', async () => {
  account(10);
  const sentence = await findQuotaProblem(plan);
  expect(sentence).toContain('may run 10 functions at once in eu-north-1');
  expect(sentence).toContain(
    'aws service-quotas request-service-quota-increase --region eu-north-1 --service-code lambda --quota-code L-B99A9384 --desired-value 1000',
  );
});

test.each([
  [60, 159, true],
  [60, 160, false],
  [906, 1000, true],
])(
  '%d reserved executions of %d make the deployment fail: %s',
  async (reserved, executions, fails) => {
    account(executions);
    const sentence = await findQuotaProblem({ ...plan, reserved });
    expect(`${sentence}`.includes('the deployment would fail')).toBe(fails);
  },
);

test('without the right to read quotas it says so', async () => {
  const denied = Object.assign(new Error('no'), { name: 'AccessDeniedException' });
  lambda.on(GetAccountSettingsCommand).rejects(denied);
  expect(await findQuotaProblem(plan)).toBe(
    'The quotas of Lambda could not be read (AccessDeniedException), so they are not checked.',
  );
});
