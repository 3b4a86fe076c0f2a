import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';

// The quota of an account that a young account does not have yet.

/** Functions that should be able to run at once. AWS gives it to most accounts. */
const usualConcurrency = 1000;

/** Executions that AWS insists on keeping for functions without a reservation. */
const unreserved = 100;

/** The needs of a deployment that quotas may not allow. */
export interface Plan {
  /** Region of the deployment. */
  region: string;
  /** Executions that the sign-in functions reserve, all together. */
  reserved: number;
}

/**
 * Returns a sentence about a quota that is too low, and how to ask for more. Without the right to
 * read it, the sentence says so.
 */
export async function findQuotaProblem(plan: Plan): Promise<string | undefined> {
  try {
    return await concurrencyProblem(plan);
  } catch (error) {
    return `The quotas of Lambda could not be read (${(error as Error).name}), so they are not checked.`;
  }
}

async function concurrencyProblem({ region, reserved }: Plan): Promise<string | undefined> {
  const client = new LambdaClient({ region, maxAttempts: 2 });
  const { AccountLimit = {} } = await client.send(new GetAccountSettingsCommand({}));
  const { ConcurrentExecutions = 0 } = AccountLimit;
  const least = reserved > 0 ? reserved + unreserved : 0;
  if (ConcurrentExecutions < least) {
    return `signInConcurrency reserves ${reserved} executions, and AWS keeps ${unreserved} more. The account may run ${ConcurrentExecutions} functions at once, so the deployment would fail. ${increase(Math.max(least, usualConcurrency), region)}`;
  }
  if (ConcurrentExecutions >= usualConcurrency) return undefined;
  return `The account may run ${ConcurrentExecutions} functions at once in ${region}. Further requests then fail with a 5xx status. ${increase(usualConcurrency, region)}`;
}

const increase = (value: number, region: string) =>
  `Ask for more: aws service-quotas request-service-quota-increase --region ${region} --service-code lambda --quota-code L-B99A9384 --desired-value ${value}`;
