import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

// A process that runs the stack of a checkout, its database in one more, so that neither counts as work of what is measured. It fills
// the data folder where that is empty, then says where everything is. Whatever it is sent is answered once the stream is followed.
const [root = '', dataDir = '', reviews = ''] = process.argv.slice(2);
process.chdir(root);
const load = (file: string) => import(pathToFileURL(`${root}/${file}`).href);

const { startStack } = await load('infra/local/stack.ts');
const stack = await startStack({ port: 0, dataDir });
try {
  const answer = await fetch(`${stack.url}/user?limit=0`);
  const { count } = (await answer.json()) as { count: number };
  if (count === 0) {
    console.error(`Seeding ${reviews} reviews into ${dataDir}`);
    const size = ['--reviews', reviews, '--users', `${Math.ceil(Number(reviews) / 40)}`];
    const admin = ['bin/admin.ts', '--data-dir', dataDir, 'seed', ...size];
    await promisify(execFile)(process.execPath, admin);
  }
  process.send?.({ url: stack.url, env: process.env });
  process.on('message', async () => {
    await stack.stream.idle();
    process.send?.('idle');
  });
  await once(process, 'disconnect');
} finally {
  await stack.stop();
}
process.exit();
