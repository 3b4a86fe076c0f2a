import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compile } from 'json-schema-to-typescript';
import { newFolder } from '../../helpers/folder.ts';
import { root } from '../../helpers/service.ts';

// Types of the messages, as two generators make them from the description, in a receiver.

const run = promisify(execFile);
const folder = newFolder();
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

const description = join(root, 'shared/features/docs/openapi.json');
const receiver = `
type Message = webhooks[keyof webhooks]['post']['requestBody']['content']['application/json'];
type Review = components['schemas']['Review'];
type Entity = components['schemas']['Metadata'];
const reviews = new Map<string, { version: number; review: Review | null }>();

export function receive({ type, data }: Message): string {
  // Null once a moderator has taken the name down.
  if ('entity' in data) return data.entity ? nameOf(data.entity) : '';
  if ('review' in data) reviews.set(data.id, { version: data.version, review: data.review });
  else if (type === 'user.deleted') return data.user_id;
  return 'challenge' in data ? data.challenge : '';
}

function nameOf({ name }: Entity): string {
  return name;
}
`;
const imported = "import type { components, webhooks } from './api.d.ts';";

/** Returns what the compiler says of a program. */
async function faultsOf(name: string, program: string) {
  writeFileSync(join(folder, name), program);
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--types', 'node', name];
  const tsc = join(root, 'node_modules/typescript-7/bin/tsc');
  return run(process.execPath, [tsc, ...options], { cwd: folder }).then(
    () => '',
    ({ stdout }) => stdout,
  );
}

/** Replaces a part of the program that must be there. */
function replaced(program: string, part: string | RegExp, by: string) {
  const changed = program.replace(part, by);
  if (changed === program) throw new Error(`The guide has no ${part}`);
  return changed;
}

async function expectTypes(program: string) {
  expect(await faultsOf('receiver.mts', program)).toBe('');
  const wrong = replaced(program, 'nameOf(data.entity)', 'nameOf(data.entity.title)');
  expect(await faultsOf('wrong.mts', wrong)).toContain("Property 'title' does not exist");
}

test('by openapi-typescript', async () => {
  const generator = join(root, 'node_modules/.bin/openapi-typescript');
  await run(process.execPath, [generator, description, '--output', join(folder, 'api.d.ts')]);
  await expectTypes(`${imported}${receiver}`);
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
  const types = `import type { Metadata as Entity, Review } from './messages.d.ts';
import type { WebhookMessage as Message } from './messages.d.ts';`;
  const program = receiver.replace(/\ntype Message.*\n.*\n.*\n/, '\n');
  await expectTypes(`${types}${program}`);
});
