const tag = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
const tags = new RegExp(tag, 'g');
const list = new RegExp(`^[ \\t,]*${tag}(?:[ \\t]*,[ \\t,]*${tag})*[ \\t,]*$`);

/**
 * Parses If-Match or If-None-Match: `*`, or entity tags with their quotes and W/ (RFC 9110 sections
 * 8.8.3 and 13.1). Returns undefined for anything else.
 */
export function parseEntityTags(value: string): '*' | string[] | undefined {
  if (value.trim() === '*') return '*';
  return list.test(value) ? (value.match(tags) ?? []) : undefined;
}
