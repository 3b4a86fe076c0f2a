import type { QueryCommandInput, TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { table } from '../../shared/table/client.ts';

/** A command to the table, with the parts of its input and answer that tests look at. */
export interface Command {
  input: Pick<QueryCommandInput, 'IndexName' | 'ExpressionAttributeValues'> &
    Partial<TransactWriteCommandInput>;
}
export interface Answer {
  Items?: { pk: string; sk: string }[];
}

/**
 * Calls `act` before each command. If it throws, the table never receives the command. A value that
 * it returns takes the place of the answer.
 */
export function beforeSend(act: (command: Command) => unknown) {
  const send = table.send.bind(table);
  const mocked = async (command: never) => (await act(command)) ?? send(command);
  return jest.spyOn(table, 'send').mockImplementation(mocked as never);
}

/** Calls `act` once, before the first command that `isIt` finds. */
export function beforeFirst(
  isIt: (command: Command) => unknown,
  act: (command: Command) => unknown,
): void {
  const spy = beforeSend(async (command) => {
    if (!isIt(command)) return;
    spy.mockRestore();
    await act(command);
  });
}

/** Calls `act` once, before the first transaction. */
export function beforeTransaction(act: (command: Command) => unknown): void {
  beforeFirst(({ input }) => input.TransactItems, act);
}

/** Calls `act` after each command. A value that it returns takes the place of the answer. */
export function afterSend(act: (command: Command, answer: Answer) => unknown) {
  const send = table.send.bind(table);
  const mocked = async (command: never) => {
    const answer = await send(command);
    return (await act(command, answer as Answer)) ?? answer;
  };
  return jest.spyOn(table, 'send').mockImplementation(mocked as never);
}
