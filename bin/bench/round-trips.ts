import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

// Counts requests to the database. The SDK uses `node:http`, and nothing else in a function does.

const calls = new AsyncLocalStorage<{ tally: { roundTrips: number }; underWay: number }>();

/**
 * Adds the round trips of `run` to the database to `tally`. Requests that overlap are one, so those
 * that are made while a slow one is under way are not counted.
 */
export function countRoundTrips<T>(tally: { roundTrips: number }, run: () => T): T {
  return calls.run({ tally, underWay: 0 }, run);
}

const callOf = new WeakMap<ClientRequest, ReturnType<typeof calls.getStore>>();

// A request counts from when it is made. It starts later if it waits for a connection, and others
// may end meanwhile.
subscribe('http.client.request.created', (message) => {
  const call = calls.getStore();
  if (!call) return;
  callOf.set((message as { request: ClientRequest }).request, call);
  if (call.underWay++ === 0) call.tally.roundTrips++;
});
for (const end of ['http.client.response.finish', 'http.client.request.error']) {
  subscribe(end, (message) => {
    const { request } = message as { request: ClientRequest };
    const call = callOf.get(request);
    callOf.delete(request);
    if (call) call.underWay--;
  });
}
