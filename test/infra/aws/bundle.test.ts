import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { bundleFunctions } from '../../../infra/aws/bundle.ts';
import { createTable } from '../../../infra/local/database.ts';
import { startGateway } from '../../../infra/local/gateway.ts';
import { identityProvider } from '../../../infra/local/identity-provider.ts';
import { invoke, type Load } from '../../../infra/local/invoke.ts';
import { followStream } from '../../../infra/local/stream.ts';
import { consumers, schedules } from '../../../shared/background.ts';
import { resourceOf } from '../../../shared/http/match-route.ts';
import { type Route, routes } from '../../../shared/routes.ts';

const folder = mkdtempSync(join(tmpdir(), 'review-service-bundle-'));
const bundles = bundleFunctions(folder);

/** The code that is deployed, not that under functions/. */
const load: Load = async (operation) => {
  const directory = bundles.get(operation)?.directory ?? '';
  return (await import(pathToFileURL(join(directory, 'index.mjs')).href)).handler;
};

/** Secrets come from where they come from on AWS. */
const values: Record<string, string> = {
  'arn:signing': 'aB3'.repeat(22).slice(0, 64),
  'arn:session': 'x7Y'.repeat(22).slice(0, 64),
};
const secretsManager = createServer(async (request, response) => {
  const { SecretId } = JSON.parse((await request.toArray()).join(''));
  response.setHeader('Content-Type', 'application/x-amz-json-1.1');
  response.end(JSON.stringify({ ARN: SecretId, SecretString: values[SecretId] }));
}).listen(0, '127.0.0.1');
await new Promise((resolve) => secretsManager.once('listening', resolve));
delete process.env.SIGNING_KEYS;
Object.assign(process.env, {
  AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${(secretsManager.address() as AddressInfo).port}`,
  SIGNING_KEYS_ARN: 'arn:signing',
  SESSION_KEYS_ARN: 'arn:session',
  OIDC_CLIENT_SECRET_ARN: 'arn:client',
});

const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '';
const streamArn = await createTable(endpoint, 'reviews');
const stream = await followStream({ endpoint, streamArn, consumers, load });
const gateway = await startGateway({ port: 0, load, afterWrite: stream.poke });
const authUrl = gateway.url.replace(/\/1$/, '');
const provider = await identityProvider(new URL(gateway.url).origin, `${authUrl}/account/callback`);
gateway.mount(provider);
values['arn:client'] = provider.environment.OIDC_CLIENT_SECRET ?? '';
Object.assign(process.env, {
  AUTH_URL: authUrl,
  OIDC_ISSUER: provider.environment.OIDC_ISSUER,
  OIDC_CLIENT_ID: provider.environment.OIDC_CLIENT_ID,
});

const { makeGrant, makeUser, reviewBody } = await import('../../fixtures.ts');
const ann = await makeUser();
const ben = await makeUser();
const anns = await makeGrant(ann, ['review', 'vote', 'user']);
const bens = await makeGrant(ben, ['vote']);

async function call(method: string, path: string, token?: string, body?: unknown) {
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = (await response.json()) as { id: string; user: { id: string } };
  return { status: response.status, body: answer };
}

/** A path of the route, with values for its parameters that may well exist. */
function pathOf(route: Route): string {
  return resourceOf(route)
    .replace('{user_id}', ann.id)
    .replace('{client_id}', anns.grant.client_id)
    .replace('{rev}', '1')
    .replace('{review_id}', '00000000-0000-4000-8000-000000000000');
}

describe('what is deployed', () => {
  // Within the suite, so that the database outlives it.
  afterAll(async () => {
    await gateway.stop();
    await stream.idle();
    await stream.stop();
    secretsManager.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('a review is published, read, voted on and counted', async () => {
    const created = await call('POST', '/review/', anns.access_token, reviewBody());
    expect(created).toMatchObject({ status: 200, body: { id: expect.any(String) } });
    const path = `/review/${created.body.id}`;
    expect((await call('PUT', `${path}/vote`, bens.access_token, { vote: true })).status).toBe(200);
    expect(await call('GET', path)).toMatchObject({
      status: 200,
      body: { review: { popularity: 1, votes: { positive: 1, negative: 0 } } },
    });
    await stream.idle();
    expect(await call('GET', '/review/')).toMatchObject({ status: 200, body: { count: 1 } });
    expect((await call('DELETE', path, anns.access_token)).status).toBe(200);
    await stream.idle();
    expect(await call('GET', '/review/')).toMatchObject({ status: 200, body: { count: 0 } });
  });

  test('the authorizer knows a token, and which scope it lacks', async () => {
    expect((await call('GET', '/user/me', anns.access_token)).body.user.id).toBe(ann.id);
    expect((await call('POST', '/review/', bens.access_token, reviewBody())).status).toBe(403);
    expect((await call('GET', '/user/me', `${anns.access_token.slice(0, -1)}~`)).status).toBe(401);
  });

  // Deleting the account comes last, as everything after it would be refused.
  const ordered = routes.toSorted(
    (a, b) => Number(a.operation === 'delete-me') - Number(b.operation === 'delete-me'),
  );
  test.each(ordered.map((route) => [`${route.method} ${resourceOf(route)}`, route] as const))(
    '%s does not fail',
    async (_, route) => {
      const isForm = route.base === '' || resourceOf(route).startsWith('/1/oauth/');
      const response = await fetch(authUrl + pathOf(route), {
        method: route.method,
        redirect: 'manual',
        headers: {
          ...(route.access === 'public' ? {} : { Authorization: `Bearer ${anns.access_token}` }),
          'Content-Type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
        },
        body: route.method === 'GET' ? undefined : isForm ? 'a=b' : '{"vote":true}',
      });
      const text = await response.text();
      expect([text, response.status < 500]).toEqual([text, true]);
      expect(text).not.toContain('There is nothing at this path');
    },
  );

  test.each(schedules.map(({ operation }) => operation))('%s does not fail', async (operation) => {
    jest.spyOn(console, 'info').mockImplementation(() => {});
    await expect(invoke(await load(operation), operation, {})).resolves.toBeDefined();
  });
});

describe('the size', () => {
  const sizes = [...bundles].map(([operation, { bytes }]) => [operation, bytes] as const);
  test.each(sizes.filter(([operation]) => !usesTable(operation)))(
    '%s, which needs no table, is small: %d bytes',
    (_, bytes) => {
      expect(bytes).toBeLessThan(40 * 1024);
    },
  );
  test.each(sizes.filter(([operation]) => usesTable(operation)))(
    '%s is bounded: %d bytes',
    (_, bytes) => {
      expect(bytes).toBeLessThan(512 * 1024);
    },
  );
});

function usesTable(operation: string): boolean {
  return (bundles.get(operation)?.actions.length ?? 0) > 0;
}
