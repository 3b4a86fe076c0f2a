/**
 * Decodes a query or form as URLSearchParams does. Node 24 takes quadratic time for names without
 * `=`, so each gets one.
 */
export function readPairs(encoded: string): [string, string][] {
  return [...new URLSearchParams(encoded.replace(/(?<=^|&)[^&=]+(?=&|$)/g, '$&='))];
}
