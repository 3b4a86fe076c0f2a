const tag = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
const tags = new RegExp(tag, 'g');
const list = new RegExp(`^[ \\t,]*${tag}(?:[ \\t]*,[ \\t,]*${tag})*[ \\t,]*$`);

/**
 * The value of If-Match or If-None-Match: `*`, or entity tags with their quotes, and W/ before weak ones (RFC 9110 sections 8.8.3 and
 * 13.1). Undefined when it is neither.
 */
export function parseEntityTags(value: string): '*' | string[] | undefined {
  if (value.trim() === '*') return '*';
  return list.test(value) ? (value.match(tags) ?? []) : undefined;
}
