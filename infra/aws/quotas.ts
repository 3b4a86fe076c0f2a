import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetServiceQuotaCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';

// Quotas of the account, which a young account does not have yet.

/** Functions that should be able to run at once. AWS gives it to most accounts. */
const usualConcurrency = 1000;

/** Executions that AWS insists on keeping for functions without a reservation. */
const unreserved = 100;

const lambdaQuota = { ServiceCode: 'lambda', QuotaCode: 'L-B99A9384' };

/** Distributions of an account. The quota of CloudFront is in us-east-1 alone. */
const distributionQuota = { ServiceCode: 'cloudfront', QuotaCode: 'L-24B04930' };

/** The needs of a deployment that quotas may not allow. */
export interface Plan {
  /** Region of the deployment. */
  region: string;
  cdn: boolean;
  /** Executions that the sign-in functions reserve, all together. */
  reserved: number;
}

/**
 * Returns sentences about quotas that are too low, and how to ask for more. Without the right to
 * read a quota, one sentence says so.
 */
export async function findQuotaProblems(plan: Plan): Promise<string[]> {
  const found = await Promise.all([
    sentenceOf('Lambda', () => concurrencyProblem(plan)),
    plan.cdn ? sentenceOf('CloudFront', distributionProblem) : undefined,
  ]);
  return found.filter((sentence) => sentence !== undefined);
}

async function sentenceOf(
  name: string,
  find: () => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    return await find();
  } catch (error) {
    return `The quotas of ${name} could not be read (${(error as Error).name}), so they are not checked.`;
  }
}

async function concurrencyProblem({ region, reserved }: Plan): Promise<string | undefined> {
  const client = new LambdaClient({ region, maxAttempts: 2 });
  const { AccountLimit = {} } = await client.send(new GetAccountSettingsCommand({}));
  const { ConcurrentExecutions = 0 } = AccountLimit;
  const least = reserved > 0 ? reserved + unreserved : 0;
  if (ConcurrentExecutions < least) {
    return `signInConcurrency reserves ${reserved} executions, and AWS keeps ${unreserved} more. The account may run ${ConcurrentExecutions} functions at once, so the deployment would fail. ${increase(lambdaQuota, Math.max(least, usualConcurrency), region)}`;
  }
  if (ConcurrentExecutions >= usualConcurrency) return undefined;
  return `The account may run ${ConcurrentExecutions} functions at once in ${region}. Further requests are then answered 429. ${increase(lambdaQuota, usualConcurrency, region)}`;
}

async function distributionProblem(): Promise<string | undefined> {
  const client = new ServiceQuotasClient({ region: 'us-east-1', maxAttempts: 2 });
  const { Quota = {} } = await client.send(new GetServiceQuotaCommand(distributionQuota));
  if ((Quota.Value ?? 0) >= 1) return undefined;
  return 'The account may make no CloudFront distribution yet, so the deployment would fail. Ask AWS Support to verify the account for CloudFront, or deploy without cdn.';
}

const increase = (
  { ServiceCode, QuotaCode }: { ServiceCode: string; QuotaCode: string },
  value: number,
  region: string,
) =>
  `Ask for more: aws service-quotas request-service-quota-increase --region ${region} --service-code ${ServiceCode} --quota-code ${QuotaCode} --desired-value ${value}`;
