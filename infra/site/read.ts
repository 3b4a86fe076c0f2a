import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SiteContent, SitePage } from '../../shared/base/site/content.ts';
import { markdown, titleOf } from '../guides/markdown.ts';

/** Pages that come first in the footer. The others follow by name. */
const first = ['about', 'rules', 'privacy', 'imprint'];

/** Limits in bytes. Titles are settings, of which a Lambda takes 4 KB. */
const most = { logo: 50 * 1024, page: 60 * 1024, titles: 1_000 };

const logoNames = ['logo.svg', 'logo.png'];

/**
 * Reads the folder of a site: `<slug>.md` for each page, and `logo.svg` or `logo.png`. Returns its
 * content, and the settings that pages read of it. Throws a sentence for the operator.
 */
export function readSiteFolder(folder: string): {
  content: SiteContent;
  settings: { SITE_PAGES: string; SITE_LOGO: string };
} {
  const names = listFolder(folder);
  const pages = names
    .filter((name) => name.endsWith('.md'))
    .map((name) => readPage(folder, name))
    .sort((a, b) => rankOf(a) - rankOf(b) || (a.slug < b.slug ? -1 : 1));
  const titles = JSON.stringify(pages.map(({ slug, title }) => ({ slug, title })));
  if (Buffer.byteLength(titles) > most.titles) {
    throw new Error(`${folder} has too many pages, or their titles are too long`);
  }
  const logoName = logoNames.find((name) => names.includes(name));
  const logo = logoName && readLogo(folder, logoName);
  const digest = logo ? createHash('sha256').update(logo).digest('hex').slice(0, 12) : '';
  return {
    content: { logo, pages },
    settings: { SITE_PAGES: titles, SITE_LOGO: digest },
  };
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw new Error(`The folder of the site ${folder} cannot be read: ${(error as Error).message}`);
  }
}

function rankOf({ slug }: SitePage): number {
  const rank = first.indexOf(slug);
  return rank < 0 ? first.length : rank;
}

function readPage(folder: string, name: string): SitePage {
  const file = join(folder, name);
  const slug = name.slice(0, -'.md'.length);
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(slug)) {
    throw new Error(`${file}: name it with small letters, digits and hyphens, such as rules.md`);
  }
  const text = readFileSync(file, 'utf8');
  if (Buffer.byteLength(text) > most.page) {
    throw new Error(`${file} has more than ${most.page / 1024} KB: divide it into pages`);
  }
  const title = titleOf(text);
  if (title === '' || title.length > 60) {
    throw new Error(`${file}: begin it with a title of up to 60 characters, such as “# Rules”`);
  }
  const body = text.slice(text.indexOf('\n') + 1);
  // A link between two files becomes a link between two pages, and the anchor stays.
  const linked = body.replaceAll(/\]\(([a-z0-9-]+)\.md(#[^)\s]*)?\)/g, ']($1$2)');
  return { slug, title, description: firstParagraph(linked), html: markdown.render(linked) };
}

/** Returns the text of the first paragraph, for previews of links. */
function firstParagraph(text: string): string {
  const tokens = markdown.parse(text, {});
  const start = tokens.findIndex(({ type }) => type === 'paragraph_open');
  const parts = tokens[start + 1]?.children ?? [];
  const words = parts.map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('');
  return words.length > 200 ? `${words.slice(0, 199)}…` : words;
}

/**
 * Reads the logo as SVG. A PNG is put into one, because API Gateway sends text alone unless all
 * requests are taken as bytes.
 */
function readLogo(folder: string, name: string): string {
  const file = join(folder, name);
  const bytes = readFileSync(file);
  if (bytes.length > most.logo) {
    const size = Math.ceil(bytes.length / 1024);
    throw new Error(`${file} has ${size} KB: a logo may have at most ${most.logo / 1024} KB`);
  }
  if (name.endsWith('.svg')) return expectSvg(file, bytes.toString());
  if (bytes.toString('latin1', 1, 4) !== 'PNG' || bytes.toString('latin1', 12, 16) !== 'IHDR') {
    throw new Error(`${file} is no PNG picture`);
  }
  const width = bytes.readUInt32BE(16);
  const height = bytes.readUInt32BE(20);
  const data = `data:image/png;base64,${bytes.toString('base64')}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"><image width="${width}" height="${height}" href="${data}"/></svg>`;
}

function expectSvg(file: string, text: string): string {
  if (/<svg[\s>]/.test(text) && text.includes('http://www.w3.org/2000/svg')) return text;
  throw new Error(
    `${file} is no SVG picture: its root is <svg xmlns="http://www.w3.org/2000/svg">`,
  );
}
