import { randomUUID } from 'node:crypto';
import { readPictureHosts, readPictures } from '../../../../shared/core/entity/picture.ts';
import { reviewNew } from '../../../helpers/names-by-people.ts';
import { ask } from '../../../helpers/visit.ts';
import { makeUser, visitor } from '../../../helpers/world.ts';

const template = 'work=https://covers.example/works/{id}/250';

describe('pictures', () => {
  test('come from the address of their type alone, and leave the tile below', async () => {
    const ann = await makeUser();
    const { entity_id } = await reviewNew(ann, { name: 'Blue "Train"' });
    const path = { entity_id };
    const without = await ask('show-entity', ann, { path });
    expect(without.html).toMatch(
      /<span class="picture" aria-hidden="true"><svg [^>]*>.*>BT<\/text>/,
    );
    expect(without.html).not.toContain('<img');
    expect(without.headers['content-security-policy']).toContain('img-src data:;');
    process.env.IMAGES = template;
    process.env.IMAGE_HOSTS = 'https://*.archive.example';
    const page = await ask('show-entity', ann, { path });
    const url = `https://covers.example/works/${entity_id}/250`;
    expect(page.html).toContain(`<img src="${url}" alt="" loading="lazy"`);
    expect(page.html).toContain('>BT</text>');
    expect(page.headers['content-security-policy']).toContain(
      'img-src data: https://covers.example https://*.archive.example;',
    );
    const { body } = await visitor.readsEntity(entity_id, { include_metadata: 'true' });
    expect(body.metadata.image).toBe(url);
    const event = await reviewNew(ann, { name: 'No picture' }, 'event');
    const other = await ask('show-entity', ann, { path: { entity_id: event.entity_id } });
    expect(other.html).not.toContain('<img');
  });

  test('a thing without one has the same tile on every page', async () => {
    const ann = await makeUser();
    const entity = await reviewNew(ann, { name: '千と千尋' });
    const fills: (string | undefined)[] = [];
    for (const operation of ['show-entity', 'show-home']) {
      const { html } = await ask(operation, ann, { path: { entity_id: entity.entity_id } });
      fills.push(/fill="(#\w{6})"\/><text[^>]*>千<\/text>/.exec(html)?.[1]);
    }
    expect(fills).toEqual([expect.any(String), fills[0]]);
  });

  test.each([
    'http://covers.example/{id}',
    'release_group=http://covers.example/{id}',
    'release_group=https://covers.example/fixed',
    'release_group=https://covers.example/{id};x',
    `release_group=https://covers.example/{id}" onerror="`,
    'https://covers.example/{id}',
  ])('%j is refused', (text) => {
    expect(() => readPictures(text)).toThrow(/^IMAGES: .* must be a type and an https address/);
  });

  test.each(['http://a.example', 'https://a.example/path', '*', 'https://*', "'unsafe-inline'"])(
    'the host %j is refused',
    (text) => {
      expect(() => readPictureHosts(text)).toThrow(/^IMAGE_HOSTS: .* must be an https origin/);
    },
  );

  test('are read by type', () => {
    const id = randomUUID();
    const pictures = readPictures(` ${template}\n release_group=https://b.example/{id} `);
    expect([...pictures.keys()]).toEqual(['work', 'release_group']);
    expect(pictures.get('work')?.replace('{id}', id)).toContain(id);
  });
});
