import { hash } from 'node:crypto';
import { grounds } from '../../base/site/palette.ts';
import { site } from '../../base/site/site.ts';
import sheets from './style.json' with { type: 'json' };

interface Style {
  text: string;
  /** The source that a content security policy must allow for the text. */
  source: string;
}

let memo: Style | undefined;

/** Style of every page, rendered from the sheets in css/ by `npm run generate`. */
export function style(): Style {
  if (memo === undefined) {
    const text = colours() + Object.values(sheets).join('');
    memo = { text, source: sourceOf(text) };
  }
  return memo;
}

/** Colours of every page, with the contrasts of WCAG 2.2 AA in both colour schemes. */
export function colours(): string {
  return `
:root { color-scheme: light dark; ${light()} }
@media (prefers-color-scheme: dark) { :root { ${dark()} } }
`;
}

/** The same colours for a frame that follows the page around it, not the reader's settings. */
export function coloursOf(theme: 'light' | 'dark'): string {
  return `\n:root { color-scheme: ${theme}; ${light()} ${theme === 'dark' ? dark() : ''} }\n`;
}

function light(): string {
  return `--ink: #1c2230; --soft: #5b6474; --line: #d9dde5; --field: #7a8394;
  ${groundsOf('light')} --star: #c26a00; --danger: #b3261e; --good: #1c7a3d; --radius: 10px;
  --serif: ui-serif, Charter, Georgia, serif;`;
}

function dark(): string {
  return `--ink: #e8ebf2; --soft: #a2abbb; --line: #363d4b; --field: #7b869c;
  ${groundsOf('dark')} --star: #f5b942; --danger: #ff8a80; --good: #7ddb9c;`;
}

/** The accent of the site, and the colours with which it needs a contrast. */
function groundsOf(scheme: 'light' | 'dark'): string {
  const [paper, ground, good, danger] = grounds[scheme];
  return `--accent: ${site().accent[scheme]}; --paper: ${paper}; --ground: ${ground}; --good-ground: ${good}; --danger-ground: ${danger};`;
}

/** The source that a content security policy must allow for a text within a page. */
export function sourceOf(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}
