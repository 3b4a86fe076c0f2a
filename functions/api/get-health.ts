import * as v from 'valibot';
import { describeError } from '../../shared/base/describe-error.ts';
import { serviceUnavailable } from '../../shared/base/errors.ts';
import { endpoint } from '../../shared/core/http/endpoint.ts';
import { Answer } from '../../shared/core/http/response.ts';
import { readHealth } from '../../shared/features/health/public.ts';

/** In milliseconds. Monitoring gets an answer within 3 s, whatever the database does. */
const patience = 1_500;

/** Serves monitoring and load balancers: 200 with ages in seconds, or 503 with what is wrong. */
export const handler = endpoint(v.object({}), async () => {
  const { faults, ...ages } = await inTime(readHealth()).catch((error: unknown) => {
    console.error({ message: 'The database cannot be read', error: describeError(error) });
    throw serviceUnavailable('The database cannot be read');
  });
  if (faults.length > 0) throw serviceUnavailable(faults.join('. '));
  return new Answer({ status: 'ok', ...ages }, { headers: { 'Cache-Control': 'no-store' } });
});

async function inTime<T>(reading: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${patience} ms`)), patience);
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}
