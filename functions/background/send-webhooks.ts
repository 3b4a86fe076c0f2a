import { type RunResult, sendWebhooks } from '../../shared/features/webhooks/public.ts';

/**
 * Sends new changes to webhooks every minute. A server also looks every few seconds whether there
 * are any, and goes on at once while a run has left some. `lookEvery` is in seconds.
 */
export function handler({
  look = false,
  lookEvery,
}: {
  look?: boolean;
  lookEvery?: number;
} = {}): Promise<RunResult> {
  return sendWebhooks({
    isLook: look,
    lookEvery: lookEvery === undefined ? undefined : lookEvery * 1000,
  });
}
