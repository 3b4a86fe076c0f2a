import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../helpers/folder.ts';
import { describeWith, preparePython } from '../helpers/opinions.ts';
import { fresh, makeToken, root, start } from '../helpers/service.ts';
import { open } from './dismissed.ts';

/** Requests for each operation in the phases that make them up. */
const most = 10;

describeWith(
  ['python3', '-c', 'import venv, ensurepip'],
  /^/,
  'the description, as Schemathesis compares it with the service',
  () => {
    let schemathesis = '';
    beforeAll(() => {
      schemathesis = preparePython('schemathesis');
    }, 600_000);

    test('a thousand requests are answered as described', async () => {
      const dataDir = fresh('data');
      // So that there is a type to add things of.
      const options = ['--demo', '--quiet', '--own-types', 'film:Film'];
      const { url } = await start(dataDir, { options, until: /complete/ });
      const token = await makeToken(dataDir, root, 'review,vote,user');
      const list = await fetch(`${url}/review/?limit=1&review_type=review`);
      const { reviews } = (await list.json()) as { reviews: { id: string }[] };
      const folder = newFolder();
      const config = join(folder, 'schemathesis.toml');
      // Made-up ids name nothing, and the answers would all be 404.
      writeFileSync(config, `[parameters]\n"path.review_id" = "${reviews[0]?.id}"\n`);
      const { stdout } = spawnSync(
        schemathesis,
        [
          ['--config-file', config, '--no-color', 'run', `${url}/openapi.json`],
          ['--header', `Authorization: Bearer ${token}`],
          ['--checks', 'all', '--phases', 'examples,coverage,fuzzing,stateful'],
          ['--max-examples', `${most}`, '--generation-deterministic', '--continue-on-failure'],
          // The account of the run would be gone.
          ['--exclude-operation-id', 'deleteMe'],
        ].flat(),
        { encoding: 'utf8', cwd: folder, maxBuffer: 2 ** 26 },
      );

      const [, ...blocks] = stdout.split(/^_{3,} (?=[A-Z])/m);
      const findings = blocks.map((block) => block.split(/^={3,}/m)[0] ?? '');
      expect(open('Schemathesis', findings)).toEqual([]);
      expect(Number(/(\d+) generated/.exec(stdout)?.[1])).toBeGreaterThan(1000);
      for (const phase of ['Examples', 'Coverage', 'Fuzzing', 'Stateful']) {
        expect(stdout).toMatch(new RegExp(`^ +[✅❌] ${phase}$`, 'mu'));
      }
      expect(stdout).toMatch(/^Failures:$(?!.*^Errors:$)/ms);
    }, 900_000);
  },
);
