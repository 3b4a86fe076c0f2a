import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compile } from 'json-schema-to-typescript';
import { newFolder } from '../../helpers/folder.ts';
import { root } from '../../helpers/service.ts';

// Types of the messages, as two generators make them from the description, in the receiver of the
// guide.

const run = promisify(execFile);
const folder = newFolder();
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

const description = join(root, 'shared/docs/openapi.json');
const guide = readFileSync(join(root, 'infra/guides/webhooks.md'), 'utf8');
const [, receiver = ''] = /```ts\n(\/\/ receiver\.mts.*?)```/s.exec(guide) ?? [];

/** Returns what the compiler says of a program. */
async function faultsOf(name: string, program: string): Promise<string> {
  writeFileSync(join(folder, name), program);
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--types', 'node', name];
  const tsc = join(root, 'node_modules/typescript-7/bin/tsc');
  return run(process.execPath, [tsc, ...options], { cwd: folder }).then(
    () => '',
    ({ stdout }) => stdout,
  );
}

/** Replaces a part of the program that must be there. */
function replaced(program: string, part: string | RegExp, by: string): string {
  const changed = program.replace(part, by);
  if (changed === program) throw new Error(`The guide has no ${part}`);
  return changed;
}

async function expectTypes(program: string): Promise<void> {
  expect(await faultsOf('receiver.mts', program)).toBe('');
  const wrong = replaced(program, 'keepName(data.entity,', 'keepName(data.entity.title,');
  expect(await faultsOf('wrong.mts', wrong)).toContain("Property 'title' does not exist");
}

test('by openapi-typescript', async () => {
  const generator = join(root, 'test/client/node_modules/.bin/openapi-typescript');
  await run(process.execPath, [generator, description, '--output', join(folder, 'api.d.ts')]);
  await expectTypes(receiver);
});

test('by json-schema-to-typescript', async () => {
  const text = readFileSync(description, 'utf8').replaceAll('#/components/schemas/', '#/$defs/');
  const { webhooks, components } = JSON.parse(text);
  const hooks: { post: { requestBody: { content: Record<string, { schema: object }> } } }[] =
    Object.values(webhooks);
  const oneOf = hooks.map(({ post }) => post.requestBody.content['application/json']?.schema ?? {});
  const schema = { title: 'WebhookMessage', oneOf, $defs: components.schemas };
  const options = { additionalProperties: false, format: false };
  writeFileSync(join(folder, 'messages.d.ts'), await compile(schema, 'WebhookMessage', options));
  const imported = `import type { Metadata as Entity, Review, ReviewMessage } from './messages.d.ts';
import type { WebhookMessage as Message } from './messages.d.ts';
type Page = { reviews: (Review & { metadata?: Entity | null })[]; next?: string };`;
  const types = /import type \{ components.*?type Entity[^\n]*/s;
  const program = replaced(receiver, types, imported);
  await expectTypes(
    replaced(program, "components['schemas']['ReviewMessage']['data']", "ReviewMessage['data']"),
  );
});
