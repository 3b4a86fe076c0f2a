import { randomUUID } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { codeIn } from '../../../infra/aws/bundle.ts';
import { startGateway } from '../../../infra/local/gateway/gateway.ts';
import { type Handler, invoke, type Load } from '../../../infra/local/invoke.ts';
import { identityProvider } from '../../../infra/local/sign-in/identity-provider.ts';
import { defaultMailLimits } from '../../../infra/local/sign-in/mail-limits.ts';
import { openSignInByMail } from '../../../infra/local/sign-in/set-up-sign-in.ts';
import { streamOf } from '../../../infra/local/storage/record-source.ts';
import { followStream } from '../../../infra/local/storage/stream.ts';
import { createTable } from '../../../infra/local/storage/table.ts';
import { type SiteContent, siteFile } from '../../../shared/base/site/content.ts';
import { consumers } from '../../../shared/features/background.ts';
import { listen } from '../listen.ts';
import { functionNameOf } from './checks.ts';
import { rightsIn, sessionToken, startProxy } from './roles.ts';
import { synthesized } from './synthesized.ts';
import '../table.ts';
import { newFolder } from '../folder.ts';

const site: SiteContent = {
  logo: '<svg xmlns="http://www.w3.org/2000/svg"/>',
  pages: [{ slug: 'rules', title: 'Rules', description: 'Rules', html: '<p>Be kind.</p>' }],
};

/**
 * Starts the functions as they are deployed, on the local stack. A proxy before the database
 * enforces the role of each. Sets the environment that shared/ reads, so import modules of shared/
 * after it.
 */
export async function startRoleWorld() {
  const folder = newFolder();
  const { plain, everything } = await synthesized();
  const { service, outdir } = plain;
  const rights = rightsIn(service);
  // A job that is an option.
  const job = 'send-notices';
  rights.set(job, rightsIn(everything.service).get(job) ?? []);

  const database = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '';
  const secrets: Record<string, string> = {
    SIGNING_KEYS: 'aB3'.repeat(22).slice(0, 64),
    SESSION_KEYS: 'x7Y'.repeat(22).slice(0, 64),
    WEBHOOK_KEYS: 'k5W'.repeat(22).slice(0, 64),
  };
  const proxy = await startProxy({ database, rights, secrets });
  for (const secret of Object.keys(secrets)) delete process.env[secret];
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: proxy.url,
    AWS_SESSION_TOKEN: sessionToken,
    SIGNING_KEYS_ARN: 'SIGNING_KEYS',
    SESSION_KEYS_ARN: 'SESSION_KEYS',
    WEBHOOK_KEYS_ARN: 'WEBHOOK_KEYS',
    OIDC_CLIENT_SECRET_ARN: 'OIDC_CLIENT_SECRET',
  });

  /** The operations that have done what they are for. */
  const succeeded = new Set<string>();
  const loaded = new Map<string, Promise<Handler>>();
  /** The last deletion of an account. The eraser waits for it, and leaves it all it has to do. */
  let deletion: Promise<unknown> = Promise.resolve();

  /** The code that is deployed, but that signs its requests as the function of the operation. */
  const load: Load = async (operation) => {
    const name = functionNameOf(operation);
    const loading = loaded.get(name) ?? importHandler(name);
    loaded.set(name, loading);
    const handler = await loading;
    return async (event, context) => {
      if (operation === 'eraser') await deletion;
      const answering = handler(event, context);
      if (/^delete-(me|account)$/.test(operation)) deletion = Promise.allSettled([answering]);
      const result = await answering;
      const { statusCode = 200 } = (result ?? {}) as { statusCode?: number };
      if (statusCode < 400 || operation === 'no-route') succeeded.add(operation);
      return result;
    };
  };

  async function importHandler(name: string): Promise<Handler> {
    const directory = join(folder, name);
    cpSync(join(outdir, 'functions', name), directory, { recursive: true });
    const files = readdirSync(directory).map((file) => join(directory, file));
    const changes = files.map((file) => signAs(name, file));
    if (!changes.includes(true) && codeIn(directory).includes('AWS_ACCESS_KEY_ID')) {
      throw new Error(`${name} is as it was`);
    }
    writeFileSync(join(directory, siteFile), JSON.stringify(site));
    const { handler } = await import(pathToFileURL(join(directory, 'index.cjs')).href);
    return handler;
  }

  const { streamArn } = await createTable(database, process.env.TABLE_NAME ?? '');
  const source = streamOf(database, streamArn);
  const stream = await followStream({ source, consumers, load });
  const gateway = await startGateway({ port: 0, load });
  const authUrl = gateway.url.replace(/\/1$/, '');
  // As on a laptop: by any name, or by a mail that the next page shows.
  const byMail = openSignInByMail(folder, undefined, { isLaptop: true, limits: defaultMailLimits });
  const provider = await identityProvider(
    new URL(gateway.url).origin,
    `${authUrl}/account/callback`,
    byMail,
  );
  gateway.mount(provider);
  const { OIDC_CLIENT_SECRET, ...settings } = provider.environment;
  secrets.OIDC_CLIENT_SECRET = OIDC_CLIENT_SECRET;
  const musicDatabase = createServer(({ url = '' }, response) => {
    const named = { id: randomUUID(), name: 'Blue' };
    response.end(JSON.stringify(url.startsWith('/search/') ? { found: [named] } : named));
  });
  const musicOrigin = await listen(musicDatabase);
  Object.assign(process.env, {
    AUTH_URL: authUrl,
    ...settings,
    MUSICDB_API: `${musicOrigin}/{type}/{id}`,
    MUSICDB_SEARCH: `${musicOrigin}/search/{type}/{name}`,
    MUSICDB_PAGE: 'https://music.example/{type}/{id}',
    MUSICDB_INTERVAL: '1',
  });

  // The health check answers 503 until the first heartbeat.
  await invoke(await load('send-heartbeat'), 'send-heartbeat', {});

  return {
    url: gateway.url,
    secrets,
    authUrl,
    stream,
    proxy,
    /** Rights of each function, by its name. Tests may change them. */
    rights,
    load,
    succeeded,
    async stop(): Promise<void> {
      await gateway.stop();
      byMail?.steps.close();
      await stream.idle();
      await stream.stop();
      source.close();
      proxy.stop();
      musicDatabase.close();
    },
  };
}

/** Makes the code in a file sign its requests as a function. Returns true if it was changed. */
function signAs(name: string, file: string): boolean {
  const deployed = readFileSync(file, 'utf8');
  const changed = deployed.replace(/[\w$.]+\.AWS_ACCESS_KEY_ID\?\?""/, JSON.stringify(name));
  writeFileSync(file, changed);
  return changed !== deployed;
}

/** The running functions, their stream and the proxy that watches their rights. */
export type RoleWorld = Awaited<ReturnType<typeof startRoleWorld>>;
