// Lookups of several ids in one request.
import * as v from 'valibot';
import { canonicalUuid } from '../../base/values.ts';
import { mostLookedUp } from '../review/page-size.ts';

/** Most characters of the query string of a bulk lookup (spec, endpoint 13). */
export const longestQueryString = 4096;

/** The query string of a bulk lookup. A longer one gets 503 (spec, endpoint 13). */
const BulkQueryString = v.pipe(
  v.string(),
  v.maxLength(longestQueryString, `may have at most ${longestQueryString} characters`),
);

const digits = '-*([\\da-fA-F]-*){32}';
const anyUuid = `([uU][rR][nN]:[uU][uU][iI][dD]:)?(${digits}|\\{${digits}\\})`;

/** Ids separated by commas, in forms of `canonicalUuid`. The output maps each to canonical form. */
const BulkIds = v.pipe(
  v.string(),
  v.nonEmpty('must hold at least one id'),
  // For the API's description. Forms of a UUID as `canonicalUuid` reads them.
  v.metadata({ pattern: `^,*${anyUuid}(,+${anyUuid}){0,${mostLookedUp - 1}},*$` }),
  v.transform((list) => list.split(',').filter((id) => id !== '')),
  v.minLength(1, 'must hold at least one id'),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const canonical = new Map(dataset.value.map((id) => [id, canonicalUuid(id) ?? '']));
    const [wrong] = [...canonical].find(([, id]) => id === '') ?? [];
    if (wrong === undefined) return canonical;
    addIssue({ message: `must be UUIDs separated by commas: "${wrong.slice(0, 64)}" is none` });
    return NEVER;
  }),
  v.check(
    (ids) => new Set(ids.values()).size <= mostLookedUp,
    `must hold at most ${mostLookedUp} ids`,
  ),
);

/** The request of a bulk lookup, whose parameter `name` has the ids. */
export function BulkRequest<Name extends string>(name: Name) {
  const query = { [name]: BulkIds } as Record<Name, typeof BulkIds>;
  return v.object({ query_string: BulkQueryString, query: v.object(query) });
}

/** Describes the ids of a bulk lookup, for the API's description. */
export const bulkIdsText = `At most ${mostLookedUp} ids, separated by commas. A UUID may be in any case, with hyphens or without, in braces or after \`urn:uuid:\``;

/** Errors of a bulk lookup, for the API's description. */
export const bulkErrors = {
  invalid_request: 'There is no id, there are too many, or one is not a UUID.',
  service_unavailable: `The query string has more than ${longestQueryString} characters, or the service is busy.`,
};

/** Looks up several ids. `found` is by canonical id, which `mapping` has by id as sent. */
export async function lookUp<T extends { id: string }>(
  ids: ReadonlyMap<string, string>,
  find: (ids: string[]) => Promise<T[]>,
): Promise<{ found: Record<string, T>; mapping: Record<string, string> }> {
  const all = await find([...new Set(ids.values())]);
  const found = Object.fromEntries(all.map((each) => [each.id, each]));
  const mapping = [...ids].filter(([, id]) => Object.hasOwn(found, id));
  return { found, mapping: Object.fromEntries(mapping) };
}
