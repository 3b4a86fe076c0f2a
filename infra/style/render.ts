import { readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';

/** The style sheets of pages, in the order in which their rules apply. */
export const sheets = [
  'base',
  'pieces',
  'review',
  'lists',
  'forms',
  'article',
  'forced',
  'print',
] as const;

/** Returns each style sheet without white space and comments, as pages carry it. */
export function renderStyle(): Record<string, string> {
  const rendered = sheets.map((name) => {
    const url = new URL(`../../shared/pages/frame/css/${name}.css`, import.meta.url);
    const { code } = transformSync(readFileSync(url, 'utf8'), {
      loader: 'css',
      minifyWhitespace: true,
    });
    return [name, code.trimEnd()];
  });
  return Object.fromEntries(rendered);
}
