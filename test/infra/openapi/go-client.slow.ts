import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newFolder } from '../../helpers/folder.ts';
import { describeWith } from '../../helpers/opinions.ts';
import { fresh, makeToken, root, start } from '../../helpers/service.ts';

// A client of another language, made as the guide shows from what a started service serves.

const run = promisify(execFile);
const runtime = 'github.com/oapi-codegen/runtime@v1.6.0';

const guide = readFileSync(join(root, 'infra/guides/clients.md'), 'utf8');
const blocks = [...guide.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, block = '']) => block);
const blockWith = (text: string) => blocks.find((block) => block.includes(text)) ?? '';

describeWith(['go', 'version'], /go1\.(2[5-9]|[3-9]\d)/, 'a client in Go by oapi-codegen', () => {
  test('compiles, and reads answers by its types', async () => {
    const dataDir = fresh('data');
    const { url } = await start(dataDir, { options: ['--demo', '--quiet'], until: /complete/ });
    const token = await makeToken(dataDir, root, 'review,vote');
    const folder = newFolder();
    cpSync(join(import.meta.dirname, 'go-client'), folder, { recursive: true });
    const client = join(folder, 'reviews');
    mkdirSync(client);
    const description = await fetch(`${url}/openapi.json`);
    writeFileSync(join(client, 'openapi.json'), await description.text());
    writeFileSync(join(client, 'oapi-codegen.yaml'), blockWith('skip-prune'));

    // The Go of this machine, and never another that it would download.
    const env = { ...process.env, GOTOOLCHAIN: 'local' };
    await run('sh', ['-c', blockWith('go run ')], { cwd: client, env });
    const go = (...args: string[]) => run('go', args, { cwd: folder, env });
    await go('mod', 'init', 'example.org/program');
    await go('get', runtime);
    const { stdout } = await go('run', '.', url, token);

    expect(stdout.trim().split('\n')).toEqual([
      'list: 1 true true',
      'get: true true',
      'own reviews: true 5 true false',
      'vote: true',
      'missing review: not_found',
      'profile: Noob <nil>',
      'profile with its limit: Noob 10 <nil>',
      'change: review true 5',
    ]);
  }, 600_000);
});
