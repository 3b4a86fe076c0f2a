/**
 * The names and values of a query or a form, decoded as URLSearchParams does. That takes quadratic time in Node 24 for pairs without `=`,
 * so each gets one.
 */
export function readPairs(encoded: string): [string, string][] {
  return [...new URLSearchParams(encoded.replace(/(?<=^|&)[^&=]+(?=&|$)/g, '$&='))];
}
