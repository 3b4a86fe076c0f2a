import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSiteFolder } from '../../../infra/site/read.ts';
import { newFolder } from '../../helpers/folder.ts';

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

const write = (name: string, content: string | Buffer) =>
  writeFileSync(join(folder, name), content);

/** Returns the name of the file of a page. */
const markdownOf = (slug: string) => `${slug}.md`;

/** The head of a PNG file: signature, length and type of the first chunk, width and height. */
const png = Buffer.from('89504e470d0a1a0a0000000d494844520000002000000010', 'hex');

describe('the folder of a site', () => {
  test('has pages in the order of the footer, and a logo or none', () => {
    write(markdownOf('zebra'), '# Zebra\n\nText');
    write('imprint.md', '# Imprint\n\nText');
    write('rules.md', '# Our rules\n\nBe *kind*\nto authors.\n\nMore.');
    write('notes.txt', 'no page');
    const { content, settings } = readSiteFolder(folder);
    expect(content.pages.map(({ slug }) => slug)).toEqual(['rules', 'imprint', 'zebra']);
    expect(content.pages[0]).toMatchObject({
      title: 'Our rules',
      description: 'Be kind to authors.',
    });
    expect(JSON.parse(settings.SITE_PAGES)[0]).toEqual({ slug: 'rules', title: 'Our rules' });
    expect([content.logo, settings.SITE_LOGO]).toEqual([undefined, '']);
  });

  test('gives HTML without tags and scripts of the text, and with links between its pages', () => {
    const hostile =
      '<script>x</script> [a](javascript:x) ![b](data:text/html,x) <a onclick=x>c</a>';
    write(
      'rules.md',
      `# Rules\n\n${hostile} [p](privacy.md#stored) <https://example.org>\n\n## Do`,
    );
    const [page] = readSiteFolder(folder).content.pages;
    expect(page?.html).not.toMatch(/<script|<a [^>]*on|href="(?!privacy|https:|#)|src=/);
    expect(page?.html).toContain('<a href="privacy#stored">p</a>');
    expect(page?.html).toContain('<h2 id="do">');
  });

  test('takes an SVG as it is, and a PNG within one', () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
    write('logo.png', png);
    const fromPng = readSiteFolder(folder);
    expect(fromPng.content.logo).toContain('viewBox="0 0 32 16"');
    expect(fromPng.content.logo).toContain(`data:image/png;base64,${png.toString('base64')}`);
    write('logo.svg', svg);
    const fromSvg = readSiteFolder(folder);
    expect(fromSvg.content.logo).toBe(svg);
    expect(fromSvg.settings.SITE_LOGO).toMatch(/^[\da-f]{12}$/);
    expect(fromSvg.settings.SITE_LOGO).not.toBe(fromPng.settings.SITE_LOGO);
  });

  test.each([
    [markdownOf('Rules'), '# Rules', 'name it with small letters'],
    ['rules.md', 'Rules', 'begin it with a title of up to 60 characters'],
    ['rules.md', `# ${'x'.repeat(61)}`, 'begin it with a title of up to 60 characters'],
    ['rules.md', `# Rules\n\n${'x'.repeat(60 * 1024)}`, 'has more than 60 KB'],
    ['logo.png', 'text', 'is no PNG picture'],
    ['logo.svg', '<html>', 'is no SVG picture'],
    ['logo.png', Buffer.concat([png, Buffer.alloc(50 * 1024)]), 'has 51 KB'],
  ])('is refused with %s', (name, content, sentence) => {
    write(name, content);
    expect(() => readSiteFolder(folder)).toThrow(sentence);
  });

  test('is refused if it is missing, or if its titles fill the settings of a function', () => {
    expect(() => readSiteFolder(join(folder, 'x'))).toThrow('cannot be read');
    for (let i = 0; i < 12; i += 1) write(`page-${i}.md`, `# ${'x'.repeat(60)}`);
    expect(() => readSiteFolder(folder)).toThrow('too many pages');
  });
});
