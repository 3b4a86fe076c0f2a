import { readFileSync } from 'node:fs';
import MarkdownIt from 'markdown-it';

/** The guides in the order of the menu, by file name in this folder. */
const slugs = [
  'quickstart',
  'oauth',
  'lists',
  'publishing',
  'limits',
  'errors',
  'entities',
  'embed',
  'moderation',
  'mirror',
  'versions',
];

const markdown = new MarkdownIt({ html: false });

markdown.renderer.rules.heading_open = (tokens, i) => {
  const { tag } = tokens[i] ?? {};
  const id = slugOf(tokens[i + 1]?.content ?? '');
  return `<${tag} id="${id}"><a href="#${id}">`;
};
markdown.renderer.rules.heading_close = (tokens, i) => `</a></${tokens[i]?.tag}>\n`;
markdown.renderer.rules.table_open = () => '<table class="rows">\n';

/** Renders the guides for `shared/guides.json`, with `facts` in place of `{{name}}`. */
export function renderGuides(facts: Readonly<Record<string, string | number>>) {
  return { authUrl: facts.auth_url, guides: slugs.map((slug) => render(slug, facts)) };
}

function render(slug: string, facts: Readonly<Record<string, string | number>>) {
  const source = readFileSync(new URL(`${slug}.md`, import.meta.url), 'utf8');
  const text = source
    .replaceAll(/\{\{(\w+)\}\}/g, (_, name) => {
      if (!(name in facts)) throw new Error(`${slug}.md: there is no fact {{${name}}}`);
      return `${facts[name]}`;
    })
    // A link between two files becomes a link between two pages.
    .replaceAll(/\]\((\w+)\.md/g, `](${facts.auth_url}/docs/$1`);
  const [heading = '', description = ''] = text.split('\n\n', 2);
  const title = heading.replace('# ', '');
  const html = markdown.render(text.slice(heading.length));
  return { slug, title, description, html };
}

/** Returns the anchor of a heading, as on GitHub. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}
