import { sendWebhooks } from '../../shared/webhooks/run.ts';

/** Sends new changes to webhooks every minute. */
export async function handler(): Promise<void> {
  await sendWebhooks();
}
