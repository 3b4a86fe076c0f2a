/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { routes } from '../../shared/base/routes.ts';
import { newFolder } from '../helpers/folder.ts';
import { nameEntities } from '../helpers/names.ts';
import { describeWith, prepareChecker } from '../helpers/opinions.ts';
import { makeScene, samplesOf } from '../helpers/samples.ts';
import { applyStream } from '../helpers/stream.ts';
import { ask, requestPage } from '../helpers/visit.ts';
import { makeUser, text } from '../helpers/world.ts';
import { open } from './dismissed.ts';

interface Message {
  type: string;
  subType?: string;
  url: string;
  message: string;
  extract?: string;
}

const pages = routes.filter(({ isPage }) => isPage);

describeWith(['java', '-version'], /^/, 'pages, as the Nu HTML checker sees them', () => {
  if (spawnSync('mvn', ['--version']).status !== 0) {
    test.skip('left out, because mvn is missing', () => {});
    return;
  }

  let classPath = '';
  beforeAll(() => {
    classPath = prepareChecker();
  }, 600_000);

  test('every state of every page is valid', async () => {
    const { reader, author, scene } = await makeScene();
    await nameEntities({ [scene.entity_id]: 'A & B <i> "C"' });
    const strange = `${text.trim()}\u0008\u0085 <b>&amp; & 5 > 4`;
    const hidden = await reader.publishesHidden({ text: strange });
    await author.publishes({ text: strange });
    await reader.publishes({ text: strange, is_draft: true });
    await author.reports(scene.own, { reason: 'It is <spam> & "more"' });
    await applyStream();

    const folder = newFolder();
    const names: string[] = [];
    function keep(name: string, { status, headers, body }: Awaited<ReturnType<typeof ask>>) {
      if (!/^text\/html/.test(headers['content-type'] ?? '') || body === '') return;
      const file = `${names.length}.html`;
      names.push(`${status} ${name}`);
      writeFileSync(join(folder, file), body);
    }

    const nobody = await makeUser();
    for (const route of pages) {
      const { method, path, operation } = route;
      for (const sample of samplesOf(route, scene)) {
        const query = `${new URLSearchParams(sample.query)}`;
        const name = `${method} ${path} ${query}`;
        const form = { text: strange, display_name: '', entity_id: '&', name: '<' };
        const visit = { ...sample, form: method === 'POST' ? form : {} };
        keep(`${name} by a visitor`, (await requestPage(route, visit)) as never);
        if (method === 'POST' && /delete|revoke|out|stop/.test(operation)) continue;
        keep(`${name} by a moderator`, await ask(operation, reader, visit));
        keep(`${name} by a newcomer`, await ask(operation, nobody, visit));
      }
      if (method === 'GET' && path.includes('{review_id}')) {
        keep(
          `${path} of a hidden one`,
          await ask(operation, reader, { path: { review_id: hidden } }),
        );
      }
    }
    expect(names.length).toBeGreaterThan(150);

    const checker = 'nu.validator.client.SimpleCommandLineValidator';
    const options = ['--format', 'json', '--skip-non-html', folder];
    const { stderr } = spawnSync('java', ['-cp', classPath, checker, ...options], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    const { messages }: { messages: Message[] } = JSON.parse(stderr);
    const said = messages.map(({ type, subType = '', url, message, extract = '' }) => {
      const name = names[Number(/(\d+)\.html$/.exec(url)?.[1])];
      return `${type} ${subType}: ${message} In ${name}: ${extract}`;
    });
    const distinct = new Map(said.map((each) => [each.replace(/ In \d+ [^:]*: /, ''), each]));
    expect(open('Nu HTML checker', [...distinct.values()])).toEqual([]);
  }, 600_000);
});
