import { setTimeout as sleep } from 'node:timers/promises';
import {
  GetEventSourceMappingCommand,
  LambdaClient,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';

/** In milliseconds, between two looks at the mapping, and how many looks it is given. */
const pause = 2_000;
const attempts = 150;

/**
 * Turns the event source mapping of update-aggregates on or off, and waits until AWS has done so.
 * The stream keeps its records meanwhile. Call `connect` before. Throws a sentence if the stack has
 * no output with the mapping, or AWS takes over five minutes.
 */
export async function switchConsumer(
  wanted: 'Enabled' | 'Disabled',
  wait: (milliseconds: number) => Promise<unknown> = sleep,
): Promise<void> {
  const UUID = mappingId();
  const client = new LambdaClient({ maxAttempts: 3 });
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { State } = await client.send(new GetEventSourceMappingCommand({ UUID }));
    if (State === wanted) return;
    // In any other state the mapping is still changing, and refuses a change.
    if (State === 'Enabled' || State === 'Disabled') {
      const Enabled = wanted === 'Enabled';
      await client.send(new UpdateEventSourceMappingCommand({ UUID, Enabled }));
    }
    await wait(pause);
  }
  throw new Error(
    `AWS has not changed the event source mapping ${UUID} to ${wanted} in five minutes: look at it in the console of Lambda, and repeat the command`,
  );
}

/** Throws a sentence if the stack has no output with the mapping. */
export function mappingId(): string {
  const { AGGREGATES_MAPPING: id } = process.env;
  if (id) return id;
  throw new Error(
    'the stack has no output AggregatesMapping, because its version is older: deploy it, or import without --pause-consumer',
  );
}
