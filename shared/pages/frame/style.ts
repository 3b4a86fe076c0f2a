import { hash } from 'node:crypto';
import sheets from './style.json' with { type: 'json' };

const schemes = {
  light: `--ink: #1c2230; --soft: #5b6474; --line: #d9dde5; --field: #7a8394;
  --paper: #fff; --ground: #f4f5f8; --accent: #2f55d4; --star: #c26a00; --danger: #b3261e;
  --danger-ground: #fdf0ef; --good: #1c7a3d; --good-ground: #eef8f1; --radius: 10px;
  --serif: ui-serif, Charter, Georgia, serif;`,
  dark: `--ink: #e8ebf2; --soft: #a2abbb; --line: #363d4b;
  --field: #7b869c; --paper: #161a22; --ground: #1f2430; --accent: #8aa4ff; --star: #f5b942;
  --danger: #ff8a80; --danger-ground: #2a1a1c; --good: #7ddb9c; --good-ground: #15251b;`,
};

/** Colours of every page, with the contrasts of WCAG 2.2 AA in both colour schemes. */
export const colours = `
:root { color-scheme: light dark; ${schemes.light} }
@media (prefers-color-scheme: dark) { :root { ${schemes.dark} } }
`;

/** The same colours for a frame that follows the page around it, not the reader's settings. */
export function coloursOf(theme: 'light' | 'dark'): string {
  return `\n:root { color-scheme: ${theme}; ${schemes.light} ${theme === 'dark' ? schemes.dark : ''} }\n`;
}

/** Style of every page, rendered from the sheets in css/ by `npm run openapi`. */
export const style = colours + Object.values(sheets).join('');

/** The source that a content security policy must allow for the style. */
export const styleSource = sourceOf(style);

/** The source that a content security policy must allow for a text within a page. */
export function sourceOf(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}
