// What people write to name entities. It needs the letters that look alike, 72 KB of a bundle, so
// pages that only show names import naming.ts alone.
import * as v from 'valibot';
import { invalidRequest } from '../../base/errors.ts';
import { hasLink, Name, parseWebUrl } from '../../base/values.ts';
import { isModeratorName, keysOfName, speaksAsRole } from '../../core/user/moderator-name.ts';
import { longestNaming, type Namer, originOf } from './naming.ts';

/** A text of one line, with single spaces. */
function Line<T extends v.GenericSchema<string, string>>(schema: T) {
  return v.pipe(
    v.string('must be a string'),
    v.transform((text) => text.replaceAll(/\s+/gu, ' ').trim()),
    schema,
    v.check((text) => !hasLink(text), 'must not contain an address of a website'),
    v.check((text) => !speaksAsRole(text), 'must not look like a message of a moderator'),
  );
}

const emptyAsAbsent = v.transform((text: string) => text || undefined);

/** Fields of a record that people write. An empty field is absent. */
export const namingFields = {
  name: Line(Name(longestNaming)),
  /** Artist or author, year, place: what tells it from others of its name. */
  about: v.optional(v.pipe(Line(v.union([v.literal(''), Name(longestNaming)])), emptyAsAbsent), ''),
  url: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.check(
        (url) => url === '' || parseWebUrl(url) !== null,
        'must be the whole address of a page, as https://example.org/page',
      ),
      emptyAsAbsent,
    ),
    '',
  ),
};

export const Naming = v.object(namingFields);
export type Naming = v.InferOutput<typeof Naming>;

/** Throws ApiError 400 for the name of a moderator, which only moderators may give. */
export async function checkNaming({ name, about = '' }: Naming, namer: Namer): Promise<void> {
  if (originOf(namer) !== 'member') return;
  const keys = [...keysOfName(name), ...(about === '' ? [] : keysOfName(about))];
  const distinct = [...new Map(keys.map((key) => [key.pk, key])).values()];
  if (await isModeratorName(distinct)) {
    throw invalidRequest('name and line must not be the name of a moderator');
  }
}
