import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './service.ts';

const guide = readFileSync(join(root, 'infra/local/README.md'), 'utf8');

/** Returns the first code block of the server guide that contains `text`. Throws without one. */
export function codeBlock(text: string): string {
  const blocks = [...guide.matchAll(/^```\w*\n(.*?)\n```$/gms)].map(([, block = '']) => block);
  const found = blocks.find((block) => block.includes(text));
  if (found === undefined) throw new Error(`The server guide has no code block with ${text}`);
  return found;
}
