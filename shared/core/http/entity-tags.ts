import * as v from 'valibot';

const entityTag = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
const entityTags = new RegExp(entityTag, 'g');
const listOfTags = new RegExp(`^[ \\t,]*${entityTag}(?:[ \\t]*,[ \\t,]*${entityTag})*[ \\t,]*$`);

/** Revision tags in If-Match; undefined for `*`. Weak ETags never match (RFC 9110, 13.1.1). */
export const IfMatch = v.optional(
  v.pipe(
    v.string(),
    // For the API's description: `*`, or a list of ETags in ASCII.
    v.metadata({ minLength: 1, pattern: '^(\\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$' }),
    v.transform(parseEntityTags),
    v.custom<'*' | string[]>((tags) => tags !== undefined, 'must be * or a list of ETags'),
    v.transform((tags) =>
      tags === '*' ? undefined : tags.flatMap((tag) => /^"([^."]*)/.exec(tag)?.[1] ?? []),
    ),
  ),
);

/**
 * Parses If-Match or If-None-Match: `*`, or entity tags with their quotes and W/ (RFC 9110 sections
 * 8.8.3 and 13.1). Returns undefined for anything else.
 */
export function parseEntityTags(value: string): '*' | string[] | undefined {
  if (value.trim() === '*') return '*';
  return listOfTags.test(value) ? (value.match(entityTags) ?? []) : undefined;
}
