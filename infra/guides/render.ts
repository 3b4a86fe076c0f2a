import { readFileSync } from 'node:fs';
import { markdown, slugOf, titleOf } from './markdown.ts';

/** The guides in the order of the menu, by file name in this folder. */
const slugs = [
  'quickstart',
  'oauth',
  'clients',
  'lists',
  'publishing',
  'limits',
  'errors',
  'entities',
  'embed',
  'moderation',
  'mirror',
  'webhooks',
  'critiquebrainz',
  'versions',
];

const sourceOf = (slug: string) => readFileSync(new URL(`${slug}.md`, import.meta.url), 'utf8');

/**
 * Renders the guides for `shared/features/docs/guides.json`, with `facts` in place of `{{name}}`.
 */
export function renderGuides(facts: Readonly<Record<string, string | number>>) {
  return { authUrl: facts.auth_url, guides: slugs.map((slug) => render(slug, facts)) };
}

function render(slug: string, facts: Readonly<Record<string, string | number>>) {
  const text = sourceOf(slug)
    .replaceAll(/\{\{(\w+)\}\}/g, (_, name) => {
      if (!(name in facts)) throw new Error(`${slug}.md: there is no fact {{${name}}}`);
      return `${facts[name]}`;
    })
    // A link between two files becomes a link between two pages.
    .replaceAll(/\]\((\w+)\.md/g, `](${facts.auth_url}/docs/$1`);
  const [heading = '', description = ''] = text.split('\n\n', 2);
  const tokens = markdown.parse(text.slice(heading.length), {});
  const toHtml = (part: typeof tokens) => markdown.renderer.render(part, markdown.options, {});
  const end = 1 + tokens.findIndex(({ type }) => type === 'paragraph_close');
  const html = toHtml(tokens.slice(0, end)) + contentsOf(tokens) + toHtml(tokens.slice(end));
  return { slug, title: titleOf(text), description, html };
}

/** Returns links to the sections of a guide, each with links to the parts of the section. */
function contentsOf(tokens: ReturnType<typeof markdown.parse>): string {
  const links = tokens.flatMap(({ type, tag }, i) => {
    if (type !== 'heading_open') return [];
    const text = tokens[i + 1]?.content ?? '';
    return [{ tag, link: `<a href="#${slugOf(text)}">${markdown.renderInline(text)}</a>` }];
  });
  const items = links.map(({ tag, link }, i) => {
    if (tag === 'h2') return `${i > 0 ? '</li>\n' : ''}<li>${link}`;
    return ` · ${link}`;
  });
  return `<nav class="contents" aria-label="On this page">\n<ul>\n${items.join('')}</li>\n</ul>\n</nav>\n`;
}
