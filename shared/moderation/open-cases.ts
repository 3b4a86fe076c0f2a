import { collect, queryIndex } from '../table/query.ts';

/** Open cases that are counted; an entry has 190 bytes. */
const most = 100;

/** Number of open cases as the menu shows it, up to `99+`, for at most 2.5 read units. */
export async function countOpenCases(): Promise<string> {
  const { length } = await collect(queryIndex('all-by-date', 'CASE', { pageSize: most }), most);
  return length < most ? `${length}` : `${most - 1}+`;
}
