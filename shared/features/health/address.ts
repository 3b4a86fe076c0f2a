import { describeError } from '../../base/describe-error.ts';
import { countMetric } from '../../base/metric.ts';
import { version } from '../../base/routes.ts';

/** In milliseconds. The heartbeat has 15 seconds. */
const patience = 5_000;

/**
 * Asks the service at its own domain or distribution, as a client does, if `OWN_ADDRESS` is set.
 * Logs and counts if it does not answer: its certificate, its DNS, or the key that CloudFront sends
 * may be wrong. Requests that others make with a wrong key prove nothing.
 */
export async function checkAddress(): Promise<void> {
  const address = process.env.OWN_ADDRESS;
  if (!address) return;
  const failure = await failureOf(`${address}${version}/review/languages`);
  if (failure === undefined) return;
  console.error({ message: 'The own address does not answer', ...failure });
  countMetric('Unanswered', 1, { isSummed: true });
}

/** Returns undefined for an answer of the API. Too many requests of others are one. */
async function failureOf(url: string): Promise<object | undefined> {
  try {
    const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(patience) });
    return ok || status === 429 ? undefined : { status };
  } catch (error) {
    return { error: describeError(error) };
  }
}
