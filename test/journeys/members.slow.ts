import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as pathOf } from 'node:path';
import { callerOf } from '../helpers/api.ts';
import { choices } from '../helpers/choices.ts';
import { silence } from '../helpers/console.ts';
import { startStackWithProvider } from '../helpers/identity-provider.ts';
import { membersFile } from '../helpers/printed-commands.ts';

const { url, join } = await startStackWithProvider();
const { importExport } = await import('../../bin/import.ts');
const { aggregateDifferences } = await import('../helpers/recount.ts');

// Another system: ids are numbers, times are seconds, and stars are halves.
const { below: whole } = choices(56);
const people = Array.from({ length: 1_000 }, (_, id) => ({
  id,
  nick: `member${id}`,
  mail: `Member${id}@Old.example`,
  is_confirmed: id % 10 !== 9,
  joined: 1_300_000_000 + id * 3_600,
}));
const posts = Array.from({ length: 5_000 }, (_, id) => ({
  id,
  author: id % 1_000,
  album: Math.floor(id / 1_000) * 1_000 + whole(1_000),
  halves: 1 + whole(10),
  body: `Post ${id}: forty minutes that reward every new listen.`,
  sent: 1_400_000_000 + id * 60,
}));
const likes = posts.flatMap(({ id, author }) =>
  id % 5 === 0 ? [{ post: id, by: (author + 1 + whole(998)) % 1_000, at: 1_500_000_000 + id }] : [],
);

/** A UUID of version 5, derived from the kind and the number of a thing. */
function uuid(kind: string, id: number) {
  const bytes = createHash('sha1').update(`https://old.example/${kind}/${id}`).digest();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '');

/** Writes what the other system has as the guide says. */
function fileOf() {
  const [header] = membersFile().split('\n');
  const records = [
    ...people.map(({ id, nick, mail, is_confirmed, joined }) => ({
      kind: 'user',
      id: uuid('user', id),
      display_name: nick,
      created: timeOf(joined),
      contact: { email: mail, email_verified: is_confirmed },
    })),
    ...posts.map(({ id, author, album, halves, body, sent }) => ({
      kind: 'review',
      id: uuid('post', id),
      user_id: uuid('user', author),
      entity_id: uuid('album', album),
      entity_type: 'release_group',
      language: 'en',
      license: 'CC BY-SA 3.0',
      created: timeOf(sent),
      published_on: timeOf(sent),
      revisions: [{ id: 1, text: body, rating: Math.ceil(halves / 2), timestamp: timeOf(sent) }],
    })),
    ...likes.map(({ post, by, at }) => ({
      kind: 'vote',
      review_id: uuid('post', post),
      user_id: uuid('user', by),
      vote: true,
      voted_at: timeOf(at),
    })),
  ];
  return [header, ...records.map((record) => JSON.stringify(record))].join('\n');
}

const api = callerOf(url);

test('a community of another system comes with its members, and no attacker', async () => {
  const folder = mkdtempSync(pathOf(tmpdir(), 'members-'));
  const file = pathOf(folder, 'members.jsonl');
  writeFileSync(file, `${fileOf()}\n`);
  silence('error');
  const counts = { user: 1_000, review: 5_000, vote: 1_000 };
  expect(await importExport(file, { isDryRun: false })).toMatchObject({
    written: counts,
    present: {},
    refused: {},
  });
  rmSync(folder, { recursive: true });

  const members = people.slice(0, 11);
  for (const { id, nick, mail, is_confirmed } of members) {
    const address = mail.toLowerCase();
    // Somebody whose provider lets people type any address comes first.
    if (id === 3) expect((await join(`${address} unverified`)).id).not.toBe(uuid('user', id));
    const { id: claimed } = await join(address);
    expect(claimed === uuid('user', id)).toBe(is_confirmed);
    if (!is_confirmed) continue;
    const { body: user } = await api('GET', `/user/${claimed}`);
    const karma = likes.filter(({ post }) => post % 1_000 === id).length;
    expect(user).toMatchObject({ user: { display_name: nick, karma } });
    const { body: list } = await api('GET', `/review/?user_id=${claimed}`);
    expect(list).toMatchObject({ count: 5 });
  }
  expect(await aggregateDifferences()).toEqual([]);
}, 240_000);
