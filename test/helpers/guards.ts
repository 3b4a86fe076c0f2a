import { table } from '../../shared/base/table/client.ts';
import type { Key } from '../../shared/base/table/item.ts';
import { setAttributes } from './items.ts';

/** The parts of a write that name an item. */
interface Named {
  Key?: Key;
  Item?: Key;
}
interface Written extends Named {
  TransactItems?: Record<string, Named>[];
  UpdateExpression?: string;
}

/**
 * Calls `act`, and changes attributes of an item just before the first write that names it. Returns
 * what became of that write.
 */
export async function fateOf(
  act: () => Promise<unknown>,
  key: Key,
  changed: Record<string, unknown>,
): Promise<'not sent' | 'written' | 'refused'> {
  let fate: Awaited<ReturnType<typeof fateOf>> = 'not sent';
  const send = table.send.bind(table) as (command: unknown) => Promise<never>;
  const spy = jest.spyOn(table, 'send').mockImplementation((async (command: { input: Written }) => {
    // Nobody tries again.
    if (fate === 'refused') throw new Error('over');
    if (fate !== 'not sent' || !isWriteOf(key, command.input)) return send(command);
    fate = 'written';
    await setAttributes(key, changed);
    try {
      return await send(command);
    } catch (error) {
      fate = 'refused';
      throw error;
    }
  }) as never);
  // The error that the caller gets is for other tests.
  await act().catch(() => {});
  spy.mockRestore();
  return fate;
}

function isWriteOf({ pk, sk }: Key, input: Written): boolean {
  const inTransaction = input.TransactItems?.flatMap((action) => Object.values(action)) ?? [];
  const alone = input.UpdateExpression === undefined ? [] : [input];
  return [...inTransaction, ...alone].some(({ Key, Item }) => {
    const named = Key ?? Item;
    return named?.pk === pk && named.sk === sk;
  });
}
