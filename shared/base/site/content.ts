// The files of a site: its logo and its own pages, as the host has read and rendered them.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A page of the operator's own. Its HTML is safe: the renderer escapes HTML in Markdown. */
export interface SitePage {
  slug: string;
  title: string;
  description: string;
  html: string;
}

/** The files of a site. The logo is SVG. */
export interface SiteContent {
  logo: string | undefined;
  pages: readonly SitePage[];
}

let content: SiteContent | undefined;

/** The name of the file beside the code of a Lambda. */
export const siteFile = 'site.json';

/** Returns the files of the site. A server provides them, and a Lambda has them beside its code. */
export function siteContent(): SiteContent {
  content ??= bundledContent();
  return content;
}

/** Sets the files of the site, for this process. */
export function provideSite(provided: SiteContent): void {
  content = provided;
}

function bundledContent(): SiteContent {
  const file = join(import.meta.dirname, siteFile);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { logo: undefined, pages: [] };
}
