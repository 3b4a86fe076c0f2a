import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

// Counts requests to the database. The SDK uses `node:http`, and nothing else in a function does.

interface Call {
  tally: { roundTrips: number };
  /** The length of the longest chain that has ended. */
  ended: number;
}

const calls = new AsyncLocalStorage<Call>();
const placeOf = new WeakMap<ClientRequest, { call: Call; place: number }>();

/**
 * Writes the round trips of `run` to the database into `tally`: the longest chain of requests that
 * were each made after the one before had ended. So parallel requests are one. Chains side by
 * side may count one more where the steps of one end before those of the other begin.
 */
export function countRoundTrips<T>(tally: { roundTrips: number }, run: () => T): T {
  return calls.run({ tally, ended: 0 }, run);
}

// When it is made, and not when it starts: it may wait for a connection first.
subscribe('http.client.request.created', (message) => {
  const call = calls.getStore();
  if (!call) return;
  const place = call.ended + 1;
  placeOf.set((message as { request: ClientRequest }).request, { call, place });
  call.tally.roundTrips = Math.max(call.tally.roundTrips, place);
});
for (const end of ['http.client.response.finish', 'http.client.request.error']) {
  subscribe(end, (message) => {
    const placed = placeOf.get((message as { request: ClientRequest }).request);
    if (placed) placed.call.ended = Math.max(placed.call.ended, placed.place);
  });
}
