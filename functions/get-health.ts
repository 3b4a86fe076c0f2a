import * as v from 'valibot';
import { describeError } from '../shared/describe-error.ts';
import { serviceUnavailable } from '../shared/errors.ts';
import { readHealth } from '../shared/health/health.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { Answer } from '../shared/http/response.ts';

/** Serves monitoring and load balancers: 200 with ages in seconds, or 503 with what is wrong. */
export const handler = endpoint(v.object({}), async () => {
  const { faults, ...ages } = await readHealth().catch((error: unknown) => {
    console.error({ message: 'The database cannot be read', error: describeError(error) });
    throw serviceUnavailable('The database cannot be read');
  });
  if (faults.length > 0) throw serviceUnavailable(faults.join('. '));
  return new Answer({ status: 'ok', ...ages }, { headers: { 'Cache-Control': 'no-store' } });
});
