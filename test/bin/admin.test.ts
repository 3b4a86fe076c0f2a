import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, describe, expect, test } from '@jest/globals';
import { handler as deleteMe } from '../../functions/delete-me.ts';
import { handler as deleteReview } from '../../functions/delete-review.ts';
import { handler as reportReview } from '../../functions/report-review.ts';
import { createTable, startDatabase } from '../../infra/local/database.ts';
import { announce } from '../../infra/local/discovery.ts';
import { openToken } from '../../shared/oauth/credentials.ts';
import { findGrant } from '../../shared/oauth/grant-repository.ts';
import { table, tableName } from '../../shared/table/client.ts';
import { applicationKey, contactKey, reviewKey, userKey } from '../../shared/table/keys.ts';
import {
  applyStream,
  makeGrant,
  makeReview,
  makeUser,
  readItem,
  scanTable,
  setAttributes,
  vote,
} from '../fixtures.ts';
import { invoke } from '../invoke.ts';
import { makeClient } from '../oauth/client.ts';
import { differences } from '../recount.ts';

const { PATH, NODE_COMPILE_CACHE, SIGNING_KEYS } = process.env;
const root = fileURLToPath(new URL('../..', import.meta.url));
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A data folder that says that this process is a stack, on this database. */
function dataFolder(
  dynamodb_endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '',
  pid = process.pid,
) {
  const folder = mkdtempSync(join(tmpdir(), 'admin-'));
  folders.push(folder);
  announce(folder, { pid, engine_pid: null, url: null, dynamodb_endpoint, table_name: 'reviews' });
  return folder;
}

const dataDir = dataFolder();

async function admin(args: string[], DATA_DIR = dataDir, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['bin/admin.ts', ...args], {
    cwd: root,
    env: { PATH, NODE_COMPILE_CACHE, DATA_DIR, SIGNING_KEYS, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    readAll(child.stdout),
    readAll(child.stderr),
    once(child, 'close'),
  ]);
  return { code, stdout, stderr };
}

/** What it prints, when all is well: one JSON document, and nothing on stderr. */
async function run(...args: string[]) {
  const { code, stdout, stderr } = await admin(args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe('npm run admin', () => {
  test('makes a user, an application and tokens, and takes them back', async () => {
    const user = await run('user', 'create', '--name', 'Zoë 🎵', '--email', 'zoe@mail.example');
    expect(user).toEqual({
      id: expect.any(String),
      display_name: 'Zoë 🎵',
      created: expect.stringMatching(
        /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
      ),
      karma: 0,
      user_type: 'Noob',
    });
    expect(await readItem(contactKey(user.id))).toMatchObject({ email: 'zoe@mail.example' });

    const website = 'https://client.example/';
    const redirect = 'http://127.0.0.1:8080/callback';
    const app = await run(
      ...['app', 'create', '--owner', user.id.toUpperCase(), '--name', 'Demo', '--desc', ''],
      ...['--website', website, '--redirect-uri', redirect],
    );
    expect(app).toEqual({
      name: 'Demo',
      desc: '',
      website,
      redirect_uri: redirect,
      client_id: expect.stringMatching(/^[\da-f]{32}$/),
      client_secret: expect.stringMatching(/^rvs_/),
      user_id: user.id,
    });

    const access = ['--user', user.id, '--client', app.client_id];
    const tokens = await run('token', 'issue', ...access, '--scope', 'review,vote');
    expect(tokens).toEqual({
      access_token: expect.stringMatching(/^rva_/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^rvr_/),
    });
    const short = await run('token', 'issue', ...access, '--expires-in', '60');
    expect(short.expires_in).toBe(60);
    const opened = await Promise.all(
      [tokens, short].map(({ access_token }) => openToken('access', access_token)),
    );
    const grants = await Promise.all(opened.map((token) => token && findGrant(token)));
    expect(grants.map((grant) => grant?.scopes)).toEqual([['review', 'vote'], []]);

    expect(await run('token', 'revoke', ...access)).toEqual({ revoked: 2 });
    expect(await run('token', 'revoke', ...access)).toEqual({ revoked: 0 });
    expect(opened[0] && (await findGrant(opened[0]))).toBeUndefined();
  });

  test('hides and unhides a review, lists reports, and rebuilds the totals', async () => {
    const [author, reader] = [await makeUser(), await makeUser()];
    const id = await makeReview(author);
    await invoke(reportReview, {
      caller: reader.caller,
      path: { review_id: id },
      body: { reason: 'Ünïcode' },
    });
    expect(await run('report', 'list')).toEqual({
      reports: [
        { review_id: id, user_id: reader.id, reason: 'Ünïcode', reported_at: expect.any(String) },
      ],
    });
    for (const [verb, is_hidden] of [
      ['hide', true],
      ['hide', true],
      ['unhide', false],
    ] as const) {
      expect(await run('review', verb, id)).toEqual({ id, is_hidden });
      expect(await readItem(reviewKey(id))).toMatchObject({ is_hidden });
    }
    const { users, reviews } = await run('feed', 'rebuild');
    expect([users, reviews]).toEqual([3, 1]);
    await applyStream();
    expect(await differences()).toEqual([]);
  });

  test('erases what deleted accounts, reviews and applications have left behind', async () => {
    const nothing = { users: 0, reviews: 0, applications: 0, entities: 0 };
    await applyStream();
    const [friend, foe] = [await makeUser(), await makeUser()];
    const [kept] = [await makeReview(friend)];

    /** An account, a review and an application that are deleted, each with something left of it, and nobody to erase that. */
    async function leave() {
      const leaver = await makeUser();
      await makeReview(leaver);
      await vote(leaver, kept);
      const { grant } = await makeGrant(friend, ['vote'], { owner: foe });
      await invoke(deleteMe, { caller: leaver.caller });
      const review_id = await makeReview(foe);
      await vote(friend, review_id);
      await invoke(deleteReview, { caller: foe.caller, path: { review_id } });
      const Key = applicationKey(grant.client_id);
      await table.send(new DeleteCommand({ TableName: tableName(), Key }));
      const owner = await readItem(userKey(foe.id));
      await setAttributes(userKey(foe.id), { applications: Number(owner?.applications) - 1 });
      return { user: leaver.id, review: review_id, application: grant.client_id };
    }
    const one = await leave();
    const first = ['erase', '--user', one.user];
    expect(await run(...first)).toEqual({ ...nothing, users: 1 });
    expect(await run(...first)).toEqual({ ...nothing, users: 1 });
    expect(await run('erase', '--review', one.review)).toEqual({ ...nothing, reviews: 1 });
    const last = await run('erase', '--application', one.application);
    expect(last).toEqual({ ...nothing, applications: 1 });
    const two = await leave();
    const all = await run('erase');
    expect(all).toEqual({ users: 1, reviews: 1, applications: 1, entities: 3 });
    await applyStream();
    expect(await run('erase')).toEqual(nothing);

    const ids = [one, two].flatMap((deleted) => Object.values(deleted));
    const left = (await scanTable()).filter(
      ({ pk, sk }) => sk !== 'PROJECTION' && ids.some((id) => pk.includes(id) || sk.includes(id)),
    );
    expect(left).toEqual([]);
    expect(await readItem(reviewKey(kept))).toMatchObject({ votes_positive: 0 });
    await applyStream();
    expect(await differences()).toEqual([]);
  });

  test('seeds a stack on AWS only if that is for development', async () => {
    let environment = '';
    const cloudFormation = createServer((_, response) => {
      const outputs = ['TableName', 'SigningKeysArn', 'SessionKeysArn', 'AuthUrl'].map(
        (name) => `<member><OutputKey>${name}</OutputKey><OutputValue>x</OutputValue></member>`,
      );
      const parameter = `<member><ParameterKey>Environment</ParameterKey><ParameterValue>${environment}</ParameterValue></member>`;
      response.setHeader('Content-Type', 'text/xml');
      response.end(`<DescribeStacksResponse><DescribeStacksResult><Stacks><member>
        <StackName>x</StackName><CreationTime>2026-11-20T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus>
        <Outputs>${outputs.join('')}</Outputs><Parameters>${environment && parameter}</Parameters>
      </member></Stacks></DescribeStacksResult></DescribeStacksResponse>`);
    });
    await once(cloudFormation.listen(0, '127.0.0.1'), 'listening');
    const { port } = cloudFormation.address() as AddressInfo;
    const aws = {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SECRET_ACCESS_KEY: 'x',
      AWS_ENDPOINT_URL_CLOUDFORMATION: `http://127.0.0.1:${port}`,
      // Whoever is let through gets no further.
      AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    };
    const refused = /^Error: the stack reviews was not deployed with environment=development, /;
    try {
      for (const [kind, said] of [
        ['', refused],
        ['production', refused],
        ['development', /^Error: (?!the stack)/],
      ] as const) {
        environment = kind;
        const { code, stdout, stderr } = await admin(
          ['--stack', 'reviews', 'seed', '--reviews', '1', '--users', '2'],
          dataDir,
          aws,
        );
        expect({ kind, code, stdout, stderr }).toEqual({
          kind,
          code: 1,
          stdout: '',
          stderr: expect.stringMatching(said),
        });
      }
    } finally {
      cloudFormation.close();
    }
  });

  test('seeds the same data for the same options, with all counts right', async () => {
    const database = await startDatabase();
    try {
      await createTable(database.endpoint, 'reviews');
      const before = await scanTable();
      const options = ['seed', '--reviews', '300', '--users', '40'];
      const [other, answer] = await Promise.all([
        admin(options, dataFolder(database.endpoint)),
        run(...options),
      ]);
      expect(answer).toMatchObject({ reviews: 300, users: 40, entities: 15 });
      expect(answer.votes).toBeGreaterThan(10);
      const { totals, ...seeded } = JSON.parse(other.stdout);
      expect(seeded).toEqual({ reviews: 300, users: 40, entities: 15, votes: answer.votes });
      expect(totals).toEqual({ reviews: 300, users: 40, corrected: expect.any(Number) });

      expect(await differences()).toEqual([]);
      const known = new Set(before.map(({ pk, sk }) => `${pk} ${sk}`));
      const seededHere = (await scanTable()).filter(
        ({ pk, sk }) => !/^(TREE#|TOTALS$)/.test(pk) && !known.has(`${pk} ${sk}`),
      );
      const seededThere = (await scanTable(database.endpoint)).filter(
        ({ pk }) => !/^(TREE#|TOTALS$)/.test(pk),
      );
      const byKey = (items: { pk: string; sk: string }[]) =>
        Object.fromEntries(items.map((item) => [`${item.pk} ${item.sk}`, item]));
      expect(byKey(seededHere)).toEqual(byKey(seededThere));
    } finally {
      await database.stop();
    }
  });

  test('fails with status 1, a sentence on stderr and nothing on stdout', async () => {
    const nobody = randomUUID();
    const someone = await makeUser();
    const review_id = await makeReview(someone);
    const { grant } = await makeGrant(someone, []);
    const app = ['--name', 'x', '--desc', 'x', '--website', 'https://x.example', '--redirect-uri'];
    const dead = dataFolder(undefined, 2 ** 22 + 1);
    const broken = dataFolder();
    writeFileSync(join(broken, 'stack.json'), '{');
    const developer = await makeUser();
    for (let i = 0; i < 25; i++) await makeClient(developer);
    const cases: [string[], RegExp, string?][] = [
      [
        ['app', 'create', '--owner', developer.id, ...app, 'https://x.example/'],
        /^Error: An account can have at most 25 applications: delete one first\n$/,
      ],
      [['review', 'hide', nobody], /^Error: Review not found\n$/],
      [
        ['app', 'create', '--owner', nobody, ...app, 'https://x.example/'],
        /^Error: User not found\n$/,
      ],
      [
        ['token', 'issue', '--user', nobody, '--client', grant.client_id],
        /^Error: User not found\n$/,
      ],
      [
        ['token', 'issue', '--user', grant.user_id, '--client', '0'.repeat(32)],
        /^Error: Application not found\n$/,
      ],
      [['seed', '--reviews', '100', '--users', '1'], /^Error: .*users.*\n$/],
      [['erase', '--user', grant.user_id], /^Error: .* has not been deleted, .*\n$/],
      [['erase', '--review', review_id], /^Error: .* has not been deleted, .*\n$/],
      [['erase', '--application', grant.client_id], /^Error: .* has not been deleted, .*\n$/],
      [
        ['report', 'list'],
        /^Error: no local stack runs on the data folder /,
        join(dataDir, 'none'),
      ],
      [['report', 'list'], /^Error: no local stack runs on the data folder /, dead],
      [['report', 'list'], /^Error: no local stack runs on the data folder /, broken],
    ];
    for (const [args, message, folder] of cases) {
      const { code, stdout, stderr } = await admin(args, folder);
      expect({ args, code, stdout, stderr }).toEqual({
        args,
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(message),
      });
    }
  });

  test('answers what it does not understand with status 2, and usage on stderr', async () => {
    const id = randomUUID();
    const owner = (await makeUser()).id;
    const app = [
      'app',
      'create',
      '--owner',
      owner,
      '--desc',
      'x',
      '--website',
      'https://x.example',
    ];
    const cases = [
      [],
      ['nonsense'],
      ['user'],
      ['user', 'create'],
      ['user', 'create', '--name'],
      ['user', 'create', '--name', ''],
      ['user', 'create', '--name', 'x'.repeat(65)],
      ['user', 'create', '--name', 'Ann', '--email', 'ann'],
      ['user', 'create', '--name', 'Ann', '--colour', 'red'],
      ['user', 'create', '--name', 'Ann', 'Lee'],
      [...app, '--name', 'x', '--redirect-uri', 'http://x.example/'],
      [...app, '--name', '\t', '--redirect-uri', 'https://x.example/'],
      ['token', 'issue', '--user', 'ann', '--client', '0'.repeat(32)],
      ['token', 'issue', '--user', id, '--client', 'x'],
      ['token', 'issue', '--user', id, '--client', '0'.repeat(32), '--scope', 'admin'],
      ['token', 'issue', '--user', id, '--client', '0'.repeat(32), '--expires-in', '-1'],
      ['review', 'hide'],
      ['review', 'hide', 'x'],
      ['review', 'hide', id, id],
      ['erase', '--user', 'x'],
      ['erase', '--user', id, '--review', id],
      ['seed', '--reviews', '0'],
      ['seed', '--reviews', '1e3'],
    ];
    const answers = [];
    for (let i = 0; i < cases.length; i += 2) {
      answers.push(...(await Promise.all(cases.slice(i, i + 2).map((args) => admin(args)))));
    }
    for (const [i, { code, stdout, stderr }] of answers.entries()) {
      expect({ args: cases[i], code, stdout, stderr }).toEqual({
        args: cases[i],
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^(error: .+\n\s*)?Usage: admin /),
      });
    }
  });

  test('helps on stderr, with status 0', async () => {
    for (const args of [['--help'], ['token', 'issue', '--help']]) {
      const { code, stdout, stderr } = await admin(args);
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
      expect(stderr).toMatch(/^Usage: admin /);
    }
  });
});
