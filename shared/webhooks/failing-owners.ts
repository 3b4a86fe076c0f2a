import type { Webhook } from './webhook.ts';

/** Owners of webhooks that worked within a day, and those of them whose webhooks all fail now. */
export interface Owners {
  active: number;
  failing: number;
}

/** In milliseconds: a day. A receiver without a success for longer has a fault of its own. */
const longestProof = 86_400_000;

/**
 * The fewest failing owners that hint at a fault of the service. One account can have 50 webhooks
 * at hosts that do not exist, so webhooks are not counted. Its operator feels it, by a ticket.
 */
export const fewestOwners = 3;

/** Counts owners by their active webhooks. `now` is epoch ms. */
export function ownersAt(webhooks: readonly Webhook[], now: number): Owners {
  const since = new Date(now - longestProof).toISOString();
  const isProven = ({ attempts }: Webhook) =>
    attempts.some(({ at, cause }) => cause === undefined && at >= since);
  const byOwner = Map.groupBy(
    webhooks.filter(({ state }) => state === 'on'),
    ({ user_id }) => user_id,
  );
  const active = [...byOwner.values()].filter((own) => own.some(isProven));
  const failing = active.filter((own) => own.every(({ failures }) => failures > 0));
  return { active: active.length, failing: failing.length };
}

/** Returns true if most owners fail, so that the reason is probably ours. */
export function isMostFailing({ active, failing }: Owners): boolean {
  return failing >= fewestOwners && failing > active / 2;
}
