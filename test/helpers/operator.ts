/** A service with every option, and its operator, whose environment names the data folder alone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { readDiscovery } from '../../infra/local/storage/discovery.ts';
import { clientOptions, databaseEnvironment } from '../../infra/local/storage/dynamodb.ts';
import { createTable } from '../../infra/local/storage/table.ts';
import type { Key } from '../../shared/base/table/item.ts';
import { SqliteStorage } from '../../shared/base/table/sqlite/storage.ts';
import { callerOf } from './api.ts';
import { startAccount } from './aws/fake-account.ts';
import { type Browser, openBrowser } from './browser.ts';
import { startEmulator } from './emulator.ts';
import { serve } from './listen.ts';
import { fresh, root, type Service, start } from './service.ts';

/** Settings beside the defaults. Each value differs from what code assumes without the setting. */
const everyOption = {
  OWN_TYPES: 'film:Film,board_game:Board game',
  HELD_REVIEWS: '1',
  PUBLICATIONS_PER_DAY: '50',
  EDITS_PER_DAY: '60',
  BACKUP_DAYS: '35',
  IMAGES: 'film=https://images.example/{id}',
  IMAGE_HOSTS: 'https://*.images.example',
  MUSICDB_API: 'http://127.0.0.1:9/{type}/{id}',
  MUSICDB_PAGE: 'https://music.example/{type}/{id}',
  BOOKDB_API: 'http://127.0.0.1:9/{type}/{id}',
  BOOKDB_PAGE: 'https://books.example/{type}/{id}',
  SITE_NAME: 'Vinyl Circle',
  SITE_LICENSE: 'CC BY-SA 4.0',
  SITE_LANGUAGE: 'de',
  CLIENT_RATE_LIMIT: '0',
  TABLE_NAME: 'reviews',
};

/** The output of a command, and its exit status. */
export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a shell command in the folder of the code. People answer pages in `browser`. */
export async function shell(
  command: string,
  env: NodeJS.ProcessEnv,
  browser?: Browser,
): Promise<Outcome> {
  const child = spawn('sh', ['-c', command], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', async (chunk) => {
    stderr += chunk;
    const [page] = /http\S*\/oauth\/authorize\S*/.exec(`${chunk}`) ?? [];
    if (page && browser) await fetch((await browser.allow(await browser.visit(page))).url);
  });
  const [stdout, [code]] = await Promise.all([readAll(child.stdout), once(child, 'close')]);
  return { code, stdout, stderr };
}

/** An operator with a service that has data of every kind. */
export interface Operator {
  service: Service;
  /** Address of a receiver of webhooks, which passes every test. */
  receiver: string;
  dataDir: string;
  /** Variables of the operator's shell: `PATH`, the data folder, and an account of AWS. */
  env: NodeJS.ProcessEnv;
  browser: Browser;
  /** Copies the data of the service to the table of the account. */
  copyToAccount(): Promise<void>;
  /** Lets the consumers of the account follow what the tool has written there. */
  followAccount(): Promise<void>;
  /** Runs a command of the tool, on this machine. Throws its stderr if it fails. */
  admin(...args: string[]): Promise<never>;
}

/** Starts the service with every option. It stops with the test file. */
export async function startOperator(): Promise<Operator> {
  const dataDir = fresh('data');
  const service = await start(dataDir, { env: everyOption, options: ['--quiet'] });
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const local = { PATH, HOME, NODE_COMPILE_CACHE, DATA_DIR: dataDir };
  const authUrl = service.url.replace(/\/1$/, '');
  const key = (name: string) => readFileSync(join(dataDir, name), 'utf8');
  const { database, settings } = readDiscovery(dataDir) ?? {};
  const emulator = await startEmulator(fresh('emulator.sqlite'));
  afterAll(emulator.stop);
  await createTable(emulator.endpoint, 'reviews');
  const account = await startAccount({
    endpoint: emulator.endpoint,
    outputs: {
      TableName: 'reviews',
      SigningKeysArn: 'arn:signing',
      SessionKeysArn: 'arn:session',
      WebhookKeysArn: 'arn:webhook',
      AuthUrl: authUrl,
      Settings: JSON.stringify(settings),
    },
    secrets: {
      'arn:signing': key('signing-key'),
      'arn:session': key('session-key'),
      'arn:webhook': key('webhook-key'),
    },
  });
  const receiver = await serve(
    createServer(async (request, response) => {
      response.end(JSON.parse(await readAll(request)).data.challenge ?? '');
    }),
  );
  return {
    receiver: `${receiver}/`,
    service,
    dataDir,
    env: { ...local, ...account },
    browser: openBrowser(authUrl),
    copyToAccount: () => copyItems(`${database}`, emulator.endpoint),
    async followAccount() {
      Object.assign(process.env, databaseEnvironment(emulator.endpoint, 'reviews'));
      const { applyStream } = await import('./stream.ts');
      await applyStream();
    },
    async admin(...args) {
      const quoted = args.map((each) => `'${each}'`).join(' ');
      const { code, stdout, stderr } = await shell(`npm run -s admin -- ${quoted}`, local);
      if (code !== 0) throw new Error(`admin ${quoted}: ${stderr}`);
      return JSON.parse(stdout) as never;
    },
  };
}

async function copyItems(file: string, endpoint: string): Promise<void> {
  const storage = new SqliteStorage(file);
  const table = DynamoDBDocumentClient.from(new DynamoDBClient(clientOptions(endpoint)));
  let after: Key | undefined;
  do {
    const page = await storage.scan(after, 25);
    const puts = page.items.map((Item) => ({ PutRequest: { Item } }));
    if (puts.length > 0)
      await table.send(new BatchWriteCommand({ RequestItems: { reviews: puts } }));
    after = page.next;
  } while (after);
  storage.close();
  table.destroy();
}

/** A person with a token for everything. */
export interface Member {
  id: string;
  call: ReturnType<typeof callerOf>;
}

/** Makes a person. */
export async function makeMember({ admin, service }: Operator, name: string): Promise<Member> {
  const { id }: { id: string } = await admin('user', 'create', '--name', name);
  const options = ['--user', id, '--name', 'Test', '--scope', 'review', '--scope', 'vote'];
  const token: { access_token: string } = await admin('token', 'create', ...options);
  return { id, call: callerOf(service.url, token.access_token) };
}

/** Registers an application of Ann, who signs in, with a webhook that has begun. */
export async function addWebhook(operator: Operator, owner: string, redirectUri: string) {
  const { admin, browser, receiver } = operator;
  const about = ['--desc', '', '--website', 'https://x.example/', '--redirect-uri', redirectUri];
  const app = ['app', 'create', '--owner', owner, '--name', 'Demo', ...about];
  const { client_id }: { client_id: string } = await admin(...app);
  await browser.signIn('Ann');
  const application = await browser.visit(`account/applications/${client_id}`);
  const form = { address: receiver, 'review.published': 'yes' };
  await browser.submit(application, 'Register webhook', form);
  for (;;) {
    const { webhooks }: { webhooks: { id: string; state: string }[] } = await admin(
      'webhook',
      'list',
    );
    const [webhook] = webhooks;
    if (webhook && webhook.state === 'on') return { client_id, webhook_id: webhook.id };
    await sleep(500);
  }
}

/** Names a film, and publishes a review of it. Returns the ids of both. */
export async function reviewFilm({ admin }: Operator, { call }: Member) {
  const entity_id = crypto.randomUUID();
  await admin('entity', 'name', 'film', entity_id, '--name', 'M');
  const { status, body } = await call('POST', '/review/', {
    entity_id,
    entity_type: 'film',
    language: 'en',
    license_choice: 'CC BY-SA 4.0',
    text: 'Ninety minutes that reward every new look.',
    rating: 4,
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { id: `${body.id}`, entity_id };
}
