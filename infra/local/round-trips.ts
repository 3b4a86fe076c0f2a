import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

/** Round trips of each function call. Parallel requests are one round trip. */
const tallies = new AsyncLocalStorage<{ trips: number; underWay: number }>();

/** Calls `run` with a function that returns the number of round trips to the database so far. */
export function countRoundTrips<T>(run: (count: () => number) => T): T {
  const tally = { trips: 0, underWay: 0 };
  return tallies.run(tally, () => run(() => tally.trips));
}

// The SDK uses `node:http`, and nothing else in a function does.
const tallyOf = new WeakMap<ClientRequest, ReturnType<typeof tallies.getStore>>();

subscribe('http.client.request.start', (message) => {
  const tally = tallies.getStore();
  if (!tally) return;
  tallyOf.set((message as { request: ClientRequest }).request, tally);
  if (tally.underWay++ === 0) tally.trips++;
});
for (const end of ['http.client.response.finish', 'http.client.request.error']) {
  subscribe(end, (message) => {
    const { request } = message as { request: ClientRequest };
    const tally = tallyOf.get(request);
    tallyOf.delete(request);
    if (tally) tally.underWay--;
  });
}
