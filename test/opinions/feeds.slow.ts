import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describeWith, folder, preparePython } from '../helpers/opinions.ts';
import { startTestStack } from '../helpers/stack.ts';

const { url, authUrl } = await startTestStack();
const { makeUser, text } = await import('../helpers/world.ts');

describeWith(
  ['python3', '-c', 'import venv, ensurepip'],
  /^/,
  'feeds, as the Universal Feed Parser reads them',
  () => {
    let python = '';
    beforeAll(() => {
      python = preparePython('python');
    }, 600_000);

    async function read(path: string) {
      const input = Buffer.from(await (await fetch(url + path)).arrayBuffer());
      return JSON.parse(`${execFileSync(python, [join(folder, 'feeds.py')], { input })}`);
    }

    test('an entry has one address, which is its page', async () => {
      const author = await makeUser({ display_name: 'Zoë <b>' });
      const work = { entity_id: crypto.randomUUID(), entity_type: 'work' };
      const id = await author.publishes({ ...work, text: `${text.trim()}\u0008\u0085 <b>&amp;` });
      const page = `${authUrl}/review/${id}`;
      for (const path of [
        '/reviews.atom',
        `/user/${author.id}/reviews.atom`,
        `/entity/${work.entity_id}/reviews.atom`,
      ]) {
        const feed = await read(path);
        expect(feed).toMatchObject({ faults: [], version: 'atom10' });
        expect(feed.entries).toEqual([
          {
            id: `urn:uuid:${id}`,
            link: page,
            alternates: [page],
            author: 'Zoë <b>',
            published: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
            content: expect.stringContaining(`${text.trim()} &lt;b&gt;&amp;amp;`),
          },
        ]);
      }
    });

    test('a feed without reviews is valid', async () => {
      const nobody = await makeUser();
      const feed = await read(`/user/${nobody.id}/reviews.atom`);
      expect(feed).toMatchObject({ faults: [], entries: [] });
    });
  },
);
