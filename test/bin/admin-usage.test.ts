import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { program } from '../../bin/admin/program.ts';
import { insertApplication } from '../../shared/core/oauth/application-repository.ts';
import { admin, dataDir, dataFolder, refuses } from '../helpers/admin.ts';
import { makeClient } from '../helpers/oauth-client.ts';
import { makeGrant, makeUser } from '../helpers/world.ts';

describe('npm run admin: output and mistakes', () => {
  test('prints tables for people, in which nothing moves their cursor', async () => {
    const owner = await makeUser({ display_name: 'Zoë 🎵' });
    const desc = `two\nlines\x1b[2J${'x'.repeat(100)}`;
    const website = `https://client.example/${'y'.repeat(100)}`;
    const app = { name: "Ann's", desc, website, redirect_uri: 'https://client.example/callback' };
    const { client_id } = await insertApplication(owner.id, app);
    const table = async (...args: string[]) => (await admin([...args, '--tables'])).stdout;
    const shown = await table('app', 'show', client_id);
    expect(shown).toMatch(/^name +Ann's$/m);
    expect(shown).toMatch(/^desc +two\\nlines\\x1B\[2Jx{100}$/m);
    expect(await table('app', 'list', '--owner', owner.id)).toMatch(/ https:\/\/[^ y]+y{17}… /);
    const users = await table('user', 'list', '--find', owner.id);
    expect(users).toMatch(/^users\nid +display_name +created +karma +user_type\n/);
    expect(users).toContain(`\n${owner.id}  Zoë 🎵 `);
    const account = await table('user', 'show', owner.id);
    expect(account).toContain('\napplications\nclient_id ');
    expect(account).toMatch(/\nno tokens\n$/);
    expect(await table('user', 'list', '--find', randomUUID())).toBe('no users\n');
  });

  test('prints one field, for a shell to keep', async () => {
    const { id } = await makeUser({ display_name: 'Zoë 🎵' });
    const { client_id } = await makeClient({ id });
    const field = async (...args: string[]) => (await admin(args)).stdout;
    expect(await field('user', 'show', id, '--only', 'display_name')).toBe('Zoë 🎵\n');
    expect(await field('user', 'show', id, '--only', 'karma')).toBe('0\n');
    expect(await field('user', 'show', id, '--only', 'email')).toBe('null\n');
    const list = JSON.parse(await field('app', 'list', '--owner', id, '--only', 'applications'));
    expect(list).toMatchObject([{ client_id }]);
    const fault = 'Error: the answer has no field report; its fields are reports\n';
    await refuses(1, [[['report', 'list', '--only', 'report'], fault]]);
  });

  test('fails with status 1, a sentence on stderr and nothing on stdout', async () => {
    const nobody = randomUUID();
    const someone = await makeUser();
    const review_id = await someone.publishes();
    const { grant } = await makeGrant(someone, []);
    const { user_id, client_id } = grant;
    const unknown = '0'.repeat(32);
    const app = ['--name', 'x', '--desc', 'x', '--website', 'https://x.example', '--redirect-uri'];
    const dead = dataFolder({ pid: 2 ** 22 + 1 });
    const broken = dataFolder();
    writeFileSync(join(broken, 'stack.json'), '{');
    const none = join(dataDir, 'none');
    const absent = (folder: string) =>
      `Error: no local stack runs on the data folder ${folder}; start one with: npm start -- --data-dir ${folder}\n`;
    const developer = await makeUser();
    for (let i = 0; i < 25; i++) await makeClient(developer);
    const noUser = 'Error: User not found\n';
    const noApplication = 'Error: Application not found\n';
    const tooMany = 'Error: An account can have at most 25 applications: delete one first\n';
    await refuses(1, [
      [['app', 'create', '--owner', developer.id, ...app, 'https://x.example/'], tooMany],
      [['review', 'hide', nobody], 'Error: Review not found\n'],
      [['user', 'show', nobody], noUser],
      [['app', 'create', '--owner', nobody, ...app, 'https://x.example/'], noUser],
      [['app', 'list', '--owner', nobody], noUser],
      [['app', 'show', unknown], noApplication],
      [['app', 'rotate', unknown], noApplication],
      [['token', 'list', '--user', nobody], noUser],
      [['token', 'list', '--client', unknown], noApplication],
      [['token', 'issue', '--user', nobody, '--client', client_id], noUser],
      [['token', 'issue', '--user', user_id, '--client', unknown], noApplication],
      [['token', 'revoke', '--user', nobody, '--client', client_id], noUser],
      [['token', 'revoke', '--user', user_id, '--client', unknown], noApplication],
      [['seed', '--reviews', '100', '--users', '1'], /^Error: .*users.*\n$/],
      [['erase', '--user', user_id], /^Error: .* has not been deleted, .*\n$/],
      [['erase', '--review', review_id], /^Error: .* has not been deleted, .*\n$/],
      [['erase', '--application', client_id], /^Error: .* has not been deleted, .*\n$/],
      [['key', 'rotate'], /^Error: .*signing-key does not exist: .*\n$/],
      [['report', 'list'], absent(none), none],
      [['report', 'list'], absent(dead), dead],
      [['report', 'list'], absent(broken), broken],
    ]);
  });

  test('answers what it does not understand with status 2, and a line that names the mistake', async () => {
    const id = randomUUID();
    const client = '0'.repeat(32);
    const app = ['app', 'create', '--owner', id, '--desc', 'x', '--website', 'https://x.example'];
    const create = ['user', 'create', '--name'];
    const issue = ['token', 'issue', '--user', id, '--client'];
    const count = 'It must be a whole number from 1 to 999999999.';
    const suggestion = (kind: string, typed: string, meant: string) =>
      `error: unknown ${kind} '${typed}'\n(Did you mean ${meant}?)\n`;
    const invalid = (option: string, value: string, why: string) =>
      `error: option '${option}' argument '${value}' is invalid. ${why}\n`;
    const name = (value: string, why: string) => invalid('--name <name>', value, why);
    const long = 'x'.repeat(65);
    const counts = ['-1', '0', '1.5', '99999999999999', '1e3', ''];
    const refusedCounts = counts.map((value): [string[], string] => [
      [...issue, client, '--expires-in', value],
      invalid('--expires-in <seconds>', value, count),
    ]);
    await refuses(2, [
      [[], /^Usage: npm run admin -- \[options\] \[command\]\n/],
      [['user'], /^Usage: npm run admin -- user \[options\] \[command\]\n/],
      [['nonsense'], "error: unknown command 'nonsense'\n"],
      [['usr', 'list'], suggestion('command', 'usr', 'user')],
      [['user', 'crate', '--name', 'x'], suggestion('command', 'crate', 'create')],
      [['user', 'create', '--nmae', 'x'], suggestion('option', '--nmae', '--name')],
      [['user', 'list', '--colour', 'red'], "error: unknown option '--colour'\n"],
      [['user', 'create'], "error: required option '--name <name>' not specified\n"],
      [
        ['token', 'issue'],
        "error: required options '--user <user id>', '--client <client id>' not specified\n",
      ],
      [create, "error: option '--name <name>' argument missing\n"],
      [[...create, ''], name('', 'It must have 1 to 64 characters.')],
      [[...create, long], name(long, 'It must have 1 to 64 characters.')],
      [
        [...create, 'Ann', '--email', 'ann'],
        invalid('--email <address>', 'ann', 'It must be one email address.'),
      ],
      [[...create, 'Ann', 'Lee'], /^error: too many arguments for 'create'\..+\n$/],
      [
        [...app, '--name', 'x', '--redirect-uri', 'http://x.example/'],
        /^error: option '--redirect-uri <url>' argument '.+' is invalid\. It must be an https URL, .+\n$/,
      ],
      [
        [...app, '--name', '\t', '--redirect-uri', 'https://x.example/'],
        name('\t', 'It must not contain control characters.'),
      ],
      [['app', 'create', '--website', 'x'], /^error: option '--website <url>' argument 'x' .+\n$/],
      [
        ['token', 'issue', '--user', 'ann', '--client', client],
        invalid('--user <user id>', 'ann', 'It must be a UUID.'),
      ],
      [
        [...issue, 'x'],
        invalid('--client <client id>', 'x', 'It must be a client id, 32 hexadecimal digits.'),
      ],
      [
        [...issue, client, '--scope', 'admin'],
        invalid(
          '--scope <scopes>',
          'admin',
          'It may hold review, vote, user, separated by commas or spaces.',
        ),
      ],
      ...refusedCounts,
      [['token', 'list'], /^error: option '--user <user id>' or '--client <client id>' .+\n$/],
      [['review', 'hide'], "error: missing required argument 'review id'\n"],
      [['review', 'hide', 'x'], /^error: .*'x' is invalid for argument 'review id'\. .+UUID\.\n$/],
      [['review', 'hide', id, id], /^error: too many arguments for 'hide'\..+\n$/],
      [['erase', '--user', 'x'], invalid('--user <user id>', 'x', 'It must be a UUID.')],
      [
        ['erase', '--user', id, '--review', id],
        "error: option '--review <review id>' cannot be used with option '--user <user id>'\n",
      ],
      [['seed', '--reviews', '0'], invalid('--reviews <number>', '0', count)],
      [
        ['key', 'rotate', '--secret', 'x'],
        /^error: option '--secret <name>' .+ SIGNING_KEYS, .+\n$/,
      ],
    ]);
  });

  test('helps on stdout, and describes all that it takes', async () => {
    for (const args of [['--help'], ['token', 'issue', '--help'], ['help', 'user']]) {
      const { code, stdout, stderr } = await admin(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: npm run admin -- /);
    }
    const { stdout } = await admin(['app', 'create', '--help']);
    for (const option of ['owner', 'name', 'desc', 'website', 'redirect-uri']) {
      const described = new RegExp(`--${option} <[^-]+\\(required\\)`);
      expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(described);
    }
    expect(stdout).toMatch(/Global Options:\n +--data-dir .*\n[\s\S]* --stack [\s\S]* --tables /);

    const undescribed: string[] = [];
    const walk = (command: Command, path: string) => {
      if (!command.description()) undescribed.push(path);
      for (const { flags, description } of command.options) {
        if (!description) undescribed.push(`${path} ${flags}`);
      }
      for (const argument of command.registeredArguments) {
        if (!argument.description) undescribed.push(`${path} ${argument.name()}`);
      }
      for (const each of command.commands) walk(each, `${path} ${each.name()}`);
    };
    walk(program(), 'admin');
    expect(undescribed).toEqual([]);
  });
});
