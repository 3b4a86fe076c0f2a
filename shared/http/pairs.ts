/**
 * The names and values of a query or a form, decoded as URLSearchParams does. Node 24 takes quadratic time for pairs without `=`, so each
 * gets one.
 */
export function readPairs(encoded: string): [string, string][] {
  return [...new URLSearchParams(encoded.replace(/(?<=^|&)[^&=]+(?=&|$)/g, '$&='))];
}
