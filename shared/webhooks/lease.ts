import { webhookRunKey } from '../table/keys.ts';
import { tryUpdate } from '../table/transact.ts';

/** In milliseconds. A run that has died holds up the next one for so long. */
const term = 15_000;

/** In milliseconds, between two renewals. */
const renewal = 5_000;

/** The right to be the one run that sends. */
export interface Lease {
  /** Returns true once another run may have begun. */
  isLost(): boolean;
  release(): Promise<void>;
}

/** Takes the lease, and renews it until it is released. Undefined if another run holds it. */
export async function takeLease(): Promise<Lease | undefined> {
  let end = endOfTerm();
  const isTaken = await tryUpdate({
    Key: webhookRunKey,
    set: { leased_until: end },
    ConditionExpression: 'attribute_not_exists(leased_until) OR leased_until <= :now',
    ExpressionAttributeValues: { ':now': new Date().toISOString() },
  });
  if (!isTaken) return undefined;
  let isLost = false;
  async function change(leased_until: string | undefined): Promise<void> {
    const isOwn = await tryUpdate({
      Key: webhookRunKey,
      set: { leased_until },
      was: { leased_until: end },
    });
    if (!isOwn) isLost = true;
    else if (leased_until) end = leased_until;
  }
  let renewing = Promise.resolve();
  const timer = setInterval(() => {
    // A failed renewal is tried again. The lease ends by itself if all fail.
    renewing = change(endOfTerm()).catch(() => {});
  }, renewal);
  return {
    isLost: () => isLost || end <= new Date().toISOString(),
    async release() {
      clearInterval(timer);
      await renewing;
      await change(undefined);
    },
  };
}

const endOfTerm = () => new Date(Date.now() + term).toISOString();
