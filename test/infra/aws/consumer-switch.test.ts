import {
  GetEventSourceMappingCommand,
  LambdaClient,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import { beforeEach, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { switchConsumer } from '../../../infra/aws/consumer-switch.ts';

const lambda = mockClient(LambdaClient);
const UUID = '14e0db71-5d35-4eb5-b481-8945cf9d10c2';
const noWait = async () => {};

/** Lets the mapping have one state after the other; the last one stays. */
function states(...all: string[]) {
  let i = 0;
  lambda.on(GetEventSourceMappingCommand, { UUID }).callsFake(() => {
    const State = all[Math.min(i, all.length - 1)];
    i++;
    return { State };
  });
}

beforeEach(() => {
  lambda.reset();
  lambda.on(UpdateEventSourceMappingCommand).resolves({});
  process.env.AGGREGATES_MAPPING = UUID;
});

const updates = () =>
  lambda.commandCalls(UpdateEventSourceMappingCommand).map(({ args: [{ input }] }) => input);

test('waits until AWS has changed the mapping, which refuses a change while it changes', async () => {
  states('Enabling', 'Enabled', 'Disabling', 'Disabled');
  await switchConsumer('Disabled', noWait);
  expect(updates()).toEqual([{ UUID, Enabled: false }]);
});

test('changes nothing if it is so already', async () => {
  states('Enabled');
  await switchConsumer('Enabled', noWait);
  expect(updates()).toEqual([]);
});

test('says so if AWS does not change it', async () => {
  states('Disabling');
  await expect(switchConsumer('Disabled', noWait)).rejects.toThrow(
    `AWS has not changed the event source mapping ${UUID} to Disabled in five minutes`,
  );
});

test('refuses a stack of an older version', async () => {
  delete process.env.AGGREGATES_MAPPING;
  await expect(switchConsumer('Disabled', noWait)).rejects.toThrow(
    'the stack has no output AggregatesMapping',
  );
});
