import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { reportKey } from '../../shared/core/keys.ts';
import { readChanges } from '../../shared/features/changes/change-feed.ts';
import { Spool } from '../../shared/features/transfer/spool.ts';
import { admin, refuses, spawnAdmin } from '../helpers/admin.ts';
import { scanTable } from '../helpers/items.ts';
import { applyStream } from '../helpers/stream.ts';
import { enterTable } from '../helpers/table.ts';
import {
  ask,
  emptyTable,
  expectRight,
  exported,
  file,
  folder,
  importBroken,
  type Line,
  listen,
  live,
  path,
  publicDump,
  recordOf,
  records,
  revision,
} from '../helpers/transfer-commands.ts';
import { Person } from '../helpers/world.ts';

describe('the files of npm run admin -- export, import', () => {
  test('tells what an import would do, and does nothing', async () => {
    await live();
    const content = await exported();
    const { name, dataDir } = await emptyTable();
    const answer = await ask(['import', '--dry-run', file(content)], dataDir);
    const [{ counts }] = records(content);
    expect(answer).toEqual({
      is_dry_run: true,
      written: counts,
      present: {},
      refused: {},
      things_without_name: {},
      // Ann, Bob and Eve, who have no identity.
      accounts_nobody_can_claim: 3,
    });
    enterTable(name);
    expect(await scanTable()).toEqual([]);
  });

  test('publishes what everybody may see, by licence and with checksums', async () => {
    const { ann, review, draft, hidden, email, zoe } = await live();
    await new Person(zoe.id).publishes({ license_choice: 'CC BY-SA 3.0' });
    // The vote of the deleted account is shown until the eraser has come by.
    await applyStream();
    const { out, answer, files, everything } = await publicDump();
    const sums = readFileSync(join(out, 'SHA256SUMS'), 'utf8');
    const names = [...files.keys()].sort();
    const reviewFiles = ['reviews-cc-by-sa-3.0.jsonl.gz', 'reviews-cc0-1.0.jsonl.gz'];
    expect(names).toEqual(expect.arrayContaining(reviewFiles));
    expect(names).toEqual(Object.keys(answer.files).sort());
    for (const [name, bytes] of files) {
      const sum = createHash('sha256').update(bytes).digest('hex');
      expect(sums).toContain(`${sum}  ${name}\n`);
    }
    const recordsIn = (name: string) => records(`${gunzipSync(files.get(name) ?? '')}`);
    const [header, ...reviews] = recordsIn('reviews-cc0-1.0.jsonl.gz');
    const info_url = 'https://creativecommons.org/publicdomain/zero/1.0/';
    expect(header).toMatchObject({
      format: 'review-service-public',
      version: 1,
      license: { id: 'CC0 1.0', full_name: 'Creative Commons Zero 1.0 Universal', info_url },
      counts: { review: reviews.length },
    });
    const revisions = [
      { ...revision, id: 1, rating: 4, votes_positive: 1, votes_negative: 0 },
      { ...revision, id: 2, rating: 2, votes_positive: 0, votes_negative: 1 },
    ];
    expect(reviews).toContainEqual({ ...recordOf(review, ann), revisions });
    const [, ...users] = recordsIn('users.jsonl.gz');
    const profile = { display_name: 'Zoë', created: zoe.created, karma: 0 };
    expect(users).toContainEqual({ kind: 'user', id: zoe.id, ...profile });
    expect(users.map(({ id }) => id)).toEqual(users.map(({ id }) => id).toSorted());
    const since = readFileSync(join(out, 'POSITION'), 'utf8').trim();
    expect(await readChanges(since, 10)).toMatchObject({ changes: [], has_more: false });
    const texts = ['A draft', 'A hidden', '"report"', '"vote"', 'IDENTITY'];
    for (const secret of [email, draft, hidden, ...texts]) {
      expect(everything).not.toContain(secret);
    }

    await refuses(1, [
      [['import', join(out, 'reviews-cc0-1.0.jsonl.gz')], /^Error: this is a public dump/],
      [['export', '--public', '--out', out], /already exists/],
    ]);
    await refuses(2, [[['export', '--public'], /several files/]]);
  });

  test('takes no other table from a folder, which has one', async () => {
    const out = path();
    await refuses(1, [
      [['export', '--table', 'restored', '--out', out], /has one table: --table is/],
    ]);
    expect(existsSync(out)).toBe(false);
  });

  test('tells bad lines by number and reason, and the rest goes on', async () => {
    const { ann, bob, review } = await live();
    const content = await exported();
    const lines = content.trimEnd().split('\n');
    const given = records(content).find((record) => record.id === review) as Line;
    const user = records(content).find(({ kind }) => kind === 'user');
    const id = randomUUID();
    const entity_id = randomUUID();
    const cast = { kind: 'vote', user_id: ann.id, vote: true, voted_at: given.created };
    const item = { ...reportKey(review, bob.id), review_id: review, user_id: bob.id };
    const bad = [
      ['{"kind": "user"', 'is not a JSON object'],
      ['[]', 'has no kind'],
      [{ kind: 'pet' }, 'has an unknown kind'],
      [{ ...given, id, language: 'xx' }, 'language: must be an ISO 639-1 code, in lower case'],
      [{ ...given, id, license: 'MIT' }, 'license: must be one of'],
      [{ ...given, id, revisions: [{ ...given.revisions[0], rating: 6 }] }, 'revisions.0.rating: '],
      [{ ...given, id, entity_id, user_id: randomUUID() }, 'user_id names no account'],
      [{ ...given, id }, 'the author has another review of this entity'],
      [{ ...cast, review_id: id, revision: 1 }, 'its review does not exist'],
      [{ ...cast, review_id: review, revision: 1 }, 'the voter is the author of the review'],
      [
        { kind: 'grant', item: { pk: 'TOTALS', sk: 'TOTAL#work' } },
        'grant: pk and sk do not match the item',
      ],
      [
        { kind: 'identity', item: { pk: `IDENTITY#${'-'.repeat(40)}`, sk: 'IDENTITY' } },
        'identity: pk and sk do not match the item',
      ],
      // What would be answered 500 for ever after.
      [{ ...user, id, signed_out: 'yesterday' }, 'signed_out: '],
      [{ ...user, id, display_name: '\u200b' }, 'display_name: must have some visible character'],
      [{ ...given, id, moderation: { decision: 'eat' } }, 'moderation.decision: '],
      [{ kind: 'report', item: { ...item, reason: 5 } }, 'report: item.reason: '],
      [
        { kind: 'report', item: { ...item, user_id: ann.id } },
        'report: pk and sk do not match the item',
      ],
    ];
    const broken = bad.map(([line]) => (typeof line === 'string' ? line : JSON.stringify(line)));
    const { name, dataDir } = await emptyTable();
    const all = [...lines, ...broken, ''].join('\n');
    const { said, code, exitCode, answer } = await importBroken(all, dataDir);
    expect(code).toBe(0);
    expect(exitCode).toBe(1);
    expect(answer.written).toEqual(records(content)[0].counts);
    expect(Object.values(answer.refused)).toEqual(bad.map(() => 1));
    const inOrder = said.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    const reasons = bad.map(([, reason], i) => `line ${lines.length + i + 1}: ${reason}`);
    expect(inOrder).toEqual(reasons.map((reason) => expect.stringContaining(reason)));
    enterTable(name);
    await expectRight();
  });

  test('says what is wrong with a file as a whole', async () => {
    await live();
    const content = await exported();
    const lines = content.trimEnd().split('\n');
    const { name, dataDir } = await emptyTable();
    const newer = JSON.stringify({ kind: 'header', format: 'review-service', version: 2 });
    await refuses(1, [
      [['import', join(folder, 'none')], /no such file/, dataDir],
      [['import', file('')], /is empty/, dataDir],
      [['import', file('{"id": 1}\n')], /this is not an export/, dataDir],
      [['import', file(`${newer}\n`)], /version 2 .* version 1/, dataDir],
    ]);
    enterTable(name);
    expect(await scanTable()).toEqual([]);
    for (const [broken, fault] of [
      [content.slice(0, -20), `ends in the middle of line ${lines.length}`],
      [
        `${lines.slice(0, -2).join('\n')}\n`,
        `ends after line ${lines.length - 2}; 2 of the records`,
      ],
      [gzipSync(content).subarray(0, -200), 'is damaged after line'],
    ] as const) {
      const { said, exitCode, answer } = await importBroken(broken, (await emptyTable()).dataDir);
      expect([...said, answer.fault]).toEqual(Array(2).fill(expect.stringContaining(fault)));
      expect(exitCode).toBe(1);
    }
  });

  test('goes on with an export where it was interrupted', async () => {
    await live();
    const whole = await exported();
    const out = path();
    const spool = new Spool(`${out}.part`);
    const items = await scanTable();
    const half = items.slice(0, items.length / 2);
    const { pk = '', sk = '' } = half.at(-1) ?? {};
    spool.add(half, { pk, sk });
    spool.close();
    const said = listen();
    const { code } = await admin(['export', '--out', out]);
    expect({ code, said }).toEqual({ code: 0, said: [expect.stringContaining('Continuing')] });
    expect(readFileSync(out, 'utf8')).toBe(whole);
    expect(existsSync(`${out}.part`)).toBe(false);

    appendFileSync(`${out}.other.part`, '');
    const other = new Spool(`${out}.other.part`);
    other.note('source', 'elsewhere');
    other.close();
    await refuses(1, [[['export', '--out', `${out}.other`], /an unfinished export of elsewhere/]]);
  });

  test('writes to stdout, and reads what a program gives', async () => {
    await live();
    const { code, stdout, stderr } = await spawnAdmin(['export']);
    expect(code).toBe(0);
    expect(JSON.parse(stderr.replace(/^.*?\{/s, '{'))).toMatchObject({ out: '-' });
    expect(stdout).toBe(await exported());
    const { stdout: help } = await admin(['import', '--help']);
    expect(help).toContain('--dry-run');
  });
});
