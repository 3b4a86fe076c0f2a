import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetServiceQuotaCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { mockClient } from 'aws-sdk-client-mock';
import { findQuotaProblems } from '../../../infra/aws/quotas.ts';

const lambda = mockClient(LambdaClient);
const quotas = mockClient(ServiceQuotasClient);

/** Says what the account may do. */
function account({ executions = 1000, distributions = 200 }) {
  const AccountLimit = { ConcurrentExecutions: executions };
  lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit });
  quotas.on(GetServiceQuotaCommand).resolves({ Quota: { Value: distributions } });
}

beforeEach(() => {
  lambda.reset();
  quotas.reset();
});

const plan = { region: 'eu-north-1', cdn: false, reserved: 0 };

test('an account with the usual quotas has no problem', async () => {
  account({});
  expect(await findQuotaProblems(plan)).toEqual([]);
  expect(await findQuotaProblems({ ...plan, cdn: true, reserved: 900 })).toEqual([]);
});

test('a young account is told how to ask for more executions', async () => {
  account({ executions: 10 });
  const [sentence, ...others] = await findQuotaProblems(plan);
  expect(others).toEqual([]);
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
    account({ executions });
    const [sentence = ''] = await findQuotaProblems({ ...plan, reserved });
    expect(sentence.includes('the deployment would fail')).toBe(fails);
  },
);

test('the distributions of an account are asked for with cdn alone', async () => {
  account({ distributions: 0 });
  expect(await findQuotaProblems(plan)).toEqual([]);
  expect(quotas.calls()).toHaveLength(0);
  const [sentence] = await findQuotaProblems({ ...plan, cdn: true });
  expect(sentence).toMatch(/may make no CloudFront distribution yet.*AWS Support/);
});

test('without the right to read quotas it says so', async () => {
  const denied = Object.assign(new Error('no'), { name: 'AccessDeniedException' });
  lambda.on(GetAccountSettingsCommand).rejects(denied);
  quotas.on(GetServiceQuotaCommand).rejects(denied);
  expect(await findQuotaProblems({ ...plan, cdn: true })).toEqual([
    'The quotas of Lambda could not be read (AccessDeniedException), so they are not checked.',
    'The quotas of CloudFront could not be read (AccessDeniedException), so they are not checked.',
  ]);
});
