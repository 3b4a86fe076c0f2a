import { kindOf, kinds } from '../../shared/features/kinds.ts';
import { scanTable } from './items.ts';

/** The bytes of an item as DynamoDB counts them: names and values, numbers by their digits. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number' || typeof value === 'bigint') return 2 + `${value}`.length / 2;
  if (Array.isArray(value)) return value.reduce((sum, each) => sum + 1 + sizeOf(each), 3);
  if (value === null || typeof value !== 'object') return 1;
  return Object.entries(value).reduce((sum, [name, each]) => sum + name.length + sizeOf(each), 3);
}

/** Expects that no item of the table is larger than its kind may be. */
export async function expectSmallItems(): Promise<void> {
  const items = await scanTable();
  const tooLarge = items.flatMap((item) => {
    const kind = kindOf(item);
    const { kilobytes = 1 } = kind ? kinds[kind] : { kilobytes: 0 };
    const size = sizeOf(item);
    return size <= kilobytes * 1024 ? [] : [`${item.pk} ${item.sk}: ${size} bytes`];
  });
  expect(tooLarge).toEqual([]);
  expect(items.length).toBeGreaterThan(0);
}
