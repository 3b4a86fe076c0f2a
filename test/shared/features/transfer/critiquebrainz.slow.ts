import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { handler as getReview } from '../../../../functions/api/get-review.ts';
import { handler as getUser } from '../../../../functions/api/get-user.ts';
import { handler as userFeed } from '../../../../functions/api/get-user-feed.ts';
import { handler as listReviews } from '../../../../functions/api/list-reviews.ts';
import { handler as listRevisions } from '../../../../functions/api/list-revisions.ts';
import { admin, refuses } from '../../../helpers/admin.ts';
import { choices } from '../../../helpers/choices.ts';
import { silence } from '../../../helpers/console.ts';
import {
  archive as archiveAt,
  bzip2,
  copyText,
  type Row,
} from '../../../helpers/critiquebrainz-archive.ts';
import { newFolder } from '../../../helpers/folder.ts';
import { invoke } from '../../../helpers/invoke.ts';
import { differences, expectExact } from '../../../helpers/recount.ts';

const folder = newFolder();

/** The compared fields of a listed review. */
interface Listed {
  id: string;
  rating: number | null;
  text: string | null;
  votes: { positive: number; negative: number };
}

type Tail<T extends unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never;

/** Makes an archive of this name in the folder of this test. */
const archive = (name: string, ...content: Tail<Parameters<typeof archiveAt>>) =>
  archiveAt(join(folder, name), ...content);

function file(name: string, content: Uint8Array | string) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const critiquebrainz = ['import', '--format', 'critiquebrainz'];

describe('npm run admin -- import --format critiquebrainz', () => {
  test('returns the lists, averages and votes that SQL computes over the dump', async () => {
    const { random, below: number, pick } = choices(7);
    let seconds = Date.UTC(2015, 0, 1) / 1000;
    /** Returns a new time at each call, with or without a fraction. */
    const stamp = () => {
      seconds += 1 + number(100_000);
      const text = new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
      return random() < 0.5 ? text : `${text}.${`${number(1e6)}`.padStart(6, '0')}`;
    };
    const odd = 'Tab\t, line\nfeed, return\r, \\N, \\. and \\\\n, \b\f\v, \u2028, é🎵 and "quotes"';
    const users = Array.from({ length: 30 }, (_, i) => {
      return [randomUUID(), stamp(), i === 0 ? odd : `Reader ${i}`, i % 3 ? `reader-${i}` : null];
    });
    const entities = Array.from({ length: 12 }, (_, i) => ({
      id: randomUUID(),
      type: ['release_group', 'bb_literary_work', 'event', 'bb_author'][i % 4],
    }));
    const reviews = [];
    const revisions = [];
    const votes = [];
    let serial = 0;
    for (const [user] of users) {
      for (const entity of entities.filter(() => random() < 0.4)) {
        const id = randomUUID();
        const license = pick(['CC BY-SA 3.0', 'CC BY-NC-SA 3.0']);
        const made = stamp();
        const source = random() < 0.1 ? ['BBC', 'https://bbc.example/\\1'] : [null, null];
        const language = pick(['en', 'de', 'fra']);
        const count = 1 + number(3);
        const about = [id, entity.id, entity.type ?? '', user ?? ''];
        reviews.push([...about, count - 1, false, false, license, language, made, ...source]);
        for (let n = 0; n < count; n++) {
          const has = number(3);
          const text = has === 0 ? null : pick(['short', odd, 'x'.repeat(6_000), 'A text.']);
          const rating = has === 1 ? null : 20 * (1 + number(5));
          revisions.push([++serial, id, n === 0 ? made : stamp(), text, rating]);
          for (const [voter] of users.filter(() => random() < 0.15)) {
            votes.push([voter ?? '', serial, random() < 0.6, stamp()]);
          }
        }
      }
    }
    // Rows of a dump have no order.
    const shuffled = (rows: Row[]) => rows.toSorted(() => random() - 0.5);
    const base = await archive('cbdump.tar.bz2', { user_sanitised: shuffled(users), license: [] });
    const [review, revision, vote] = [reviews, revisions, votes].map(shuffled) as [
      Row[],
      Row[],
      Row[],
    ];
    const tables = { review, revision, avg_rating: [], vote };
    const all = await archive('cbdump-reviews-all.tar.bz2', tables, 3);
    const { code, stdout, stderr } = await admin([...critiquebrainz, base, all]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });

    const sql = new DatabaseSync(':memory:');
    sql.exec(`CREATE TABLE user (id, created, name, musicbrainz_id);
      CREATE TABLE review (id, entity, type, user, edits, draft, hidden, license, language, published, source, source_url);
      CREATE TABLE revision (id, review, time, text, rating);
      CREATE TABLE vote (user, revision, vote, time)`);
    const inserted = { user: users, review: reviews, revision: revisions, vote: votes };
    for (const [table, rows] of Object.entries(inserted)) {
      for (const row of rows) {
        const values = row.map((value) => (typeof value === 'boolean' ? Number(value) : value));
        sql.prepare(`INSERT INTO ${table} VALUES (${row.map(() => '?').join()})`).run(...values);
      }
    }
    sql.exec(`CREATE VIEW newest AS SELECT * FROM revision r
        WHERE id = (SELECT max(id) FROM revision WHERE review = r.review);
      CREATE VIEW ballot AS SELECT vote.user, vote.vote, vote.time, vote.revision, review.id AS review, review.user AS author
        FROM vote JOIN revision ON revision.id = vote.revision JOIN review ON review.id = revision.review
        WHERE vote.user <> review.user;
      CREATE VIEW counted AS SELECT * FROM ballot b
        WHERE time = (SELECT max(time) FROM ballot WHERE user = b.user AND review = b.review)`);
    const ask = (query: string, ...values: string[]) =>
      sql.prepare(query).get(...values) as Record<string, number>;

    const answer = JSON.parse(stdout);
    const { n: kept } = ask('SELECT count(*) AS n FROM counted');
    const { n: ballots } = ask('SELECT count(*) AS n FROM ballot');
    const own = votes.length - Number(ballots);
    const older = Number(ballots) - Number(kept);
    const { n: french } = ask("SELECT count(*) AS n FROM review WHERE language = 'fra'");
    expect([own, older, french].every((count) => Number(count) > 0)).toBe(true);
    expect(answer).toMatchObject({
      written: { user: 30, review: reviews.length, vote: kept },
      refused: {},
      left_out: {
        'vote: by the author of the review': own,
        'vote: an older one of the same person on the review': older,
      },
      changed: { 'language fra to fr': french },
    });
    expect(Object.keys(answer.left_out)).toHaveLength(2);

    for (const entity of entities) {
      const expected = sql
        .prepare(
          `SELECT review.id, rating, text,
             (SELECT count(*) FROM counted c WHERE c.review = review.id AND vote = 1) AS positive,
             (SELECT count(*) FROM counted c WHERE c.review = review.id AND vote = 0) AS negative
           FROM review JOIN newest ON newest.review = review.id WHERE entity = ? ORDER BY published DESC`,
        )
        .all(entity.id) as unknown as (Listed & Listed['votes'])[];
      const average = ask(
        'SELECT count(rating) AS count, avg(rating) / 20 AS rating FROM review JOIN newest ON newest.review = review.id WHERE entity = ?',
        entity.id,
      );
      const { status, body } = await invoke(listReviews, { query: { entity_id: entity.id } });
      expect(status).toBe(200);
      expect(body.count).toBe(expected.length);
      expect(body.average_rating).toEqual({
        count: average.count,
        rating: average.count ? Math.round(Number(average.rating) * 10) / 10 : null,
      });
      expect(
        body.reviews.map(({ id, rating, text, votes: { positive, negative } }: Listed) => {
          return { id, rating, text, positive, negative };
        }),
      ).toEqual(
        expected.map(({ id, rating, text, positive, negative }) => {
          return { id, rating: rating && rating / 20, text, positive, negative };
        }),
      );
    }

    for (const [id, , name] of users) {
      const { karma } = ask(
        'SELECT coalesce(sum(CASE vote WHEN 1 THEN 1 ELSE -1 END), 0) AS karma FROM counted WHERE author = ?',
        `${id}`,
      );
      const { body } = await invoke(getUser, { path: { user_id: `${id}` } });
      expect(body.user).toMatchObject({ display_name: name, karma });
    }

    const [edited] = sql
      .prepare('SELECT review AS id FROM revision GROUP BY review HAVING count(*) = 3 LIMIT 1')
      .all() as { id: string }[];
    const path = { review_id: edited?.id ?? '' };
    const { revisions: listed } = (await invoke(listRevisions, { path })).body;
    const rows = sql
      .prepare(
        `SELECT text, rating, time,
           (SELECT count(*) FROM counted c WHERE c.revision = r.id AND vote = 1) AS up,
           (SELECT count(*) FROM counted c WHERE c.revision = r.id AND vote = 0) AS down
         FROM revision r WHERE review = ? ORDER BY id DESC`,
      )
      .all(path.review_id) as Record<string, string | number>[];
    expect(listed).toEqual(
      rows.map(({ text, rating, time, up, down }, i) => ({
        review_id: path.review_id,
        id: 3 - i,
        text,
        rating: rating && Number(rating) / 20,
        timestamp: new Date(`${time}Z`).toUTCString(),
        votes_positive: up,
        votes_negative: down,
      })),
    );
    expect(await differences()).toEqual([]);

    expect(JSON.parse((await admin([...critiquebrainz, base, all])).stdout)).toMatchObject({
      written: {},
      present: { user: 30, review: reviews.length, vote: kept },
    });
  });

  test('counts what cannot be imported, by reason', async () => {
    const ann = randomUUID();
    const bob = randomUUID();
    const time = '2016-02-29 23:59:59';
    const review = (but: Record<number, Row[number]> = {}): Row => {
      const about = [randomUUID(), `${randomUUID()}`, 'work', ann];
      const row: Row = [...about, 0, false, false, 'CC BY-SA 3.0', 'en', time, null, null];
      for (const [i, value] of Object.entries(but)) row[Number(i)] = value;
      return row;
    };
    const good = review();
    const rounded = [0, 9, 11, 29, 30, 50, 70, 95, 100];
    const ratings = rounded.map(() => review());
    const odd = [
      review({ 2: 'film' }),
      review({ 7: 'CC BY 9.0' }),
      review({ 8: 'qqq' }),
      review({ 8: null }),
      review({ 3: randomUUID() }),
      review({ 1: good[1] ?? '', 9: '2017-01-01 00:00:00' }),
    ];
    const empty = review();
    const reviews = [good, ...ratings, ...odd, empty];
    const revision = (n: number, { 0: id = '' }: Row, rating: number | null = 20): Row => {
      return [n, id, time, rating === null ? 'A text' : null, rating];
    };
    const revisions = [
      revision(1, good),
      ...ratings.map((row, i) => revision(10 + i, row, rounded[i])),
      ...odd.map((row, i) => revision(30 + i, row)),
      [50, empty[0] ?? '', time, null, null] satisfies Row,
      [51, randomUUID(), time, 'Whose?', 20] satisfies Row,
    ];
    const votes: Row[] = [
      [ann, 1, true, time],
      [bob, 1, true, time],
      [randomUUID(), 1, true, time],
      [bob, 31, true, time],
      [bob, 999, true, time],
    ];
    const users: Row[] = [
      [ann, time, 'Ann', null],
      [bob, time, 'Bob', 'bob'],
      ['no uuid', time, 'Eve', null],
    ];
    const both = await archive('odd.tar.bz2', {
      user_sanitised: `${copyText(users)}too\tfew\n`,
      review: reviews,
      revision: revisions,
      vote: votes,
    });
    const { code, stdout } = await admin([...critiquebrainz, both]);
    expect(code).toBe(0);
    const answer = JSON.parse(stdout);
    expect(answer.written).toEqual({ user: 2, review: 10, vote: 1 });
    expect(answer.left_out).toEqual({
      'user_sanitised: a row that is not UTF-8, or has other columns': 1,
      'user: without a UUID or time': 1,
      'review: of the unknown type film': 1,
      'review: under the unknown licence CC BY 9.0': 1,
      'review: in the unknown language qqq': 1,
      'review: in the unknown language null': 1,
      'review: of a user who is not in the dump': 1,
      'review: another one of the same user and entity': 1,
      'review: without a revision': 1,
      'revision: without time, or without text and rating': 1,
      'revision: of an unknown review': 1,
      'vote: by the author of the review': 1,
      'vote: of a user who is not in the dump': 1,
      'vote: on a review that was left out': 1,
      'vote: on an unknown revision': 1,
    });
    const stars = { 0: 1, 9: 1, 11: 1, 29: 1, 30: 2, 50: 3, 70: 4, 95: 5 };
    const changed = Object.entries(stars).map(([from, to]) => [`rating ${from} to ${to}`, 1]);
    expect(answer.changed).toEqual(Object.fromEntries(changed));
    const { body } = await invoke(getReview, { path: { review_id: `${good[0]}` } });
    expect(body.review).toMatchObject({
      rating: 1,
      created: 'Mon, 29 Feb 2016 23:59:59 GMT',
      votes: { positive: 1, negative: 0 },
    });
    await expectExact();
  });

  test('reports and replaces invalid times, and names that cannot be displayed', async () => {
    const time = '2016-02-29 23:59:59';
    const names = ['', '\u200b \u2800', 'Ann'];
    const users: Row[] = names.map((name) => [randomUUID(), time, name, null]);
    const [[nameless = ''] = [], [blank = ''] = [], [ann = ''] = []] = users;
    const never: Row = [randomUUID(), '2015-02-30 05:06:07', 'Eve', null];
    const wrong = [
      '2015-02-30 05:06:07',
      '2015-03-01 24:00:00',
      'infinity',
      '2015-03-01 05:06:07 BC',
      '2015-03-01 05:06:07+00',
      null,
    ];
    const reviews = [...wrong, '2016-03-01 00:00:00.5'].map((published, i): Row => {
      const about = [randomUUID(), `${randomUUID()}`, 'work', [nameless, blank, ann][i % 3] ?? ''];
      return [...about, 0, false, false, 'CC BY-SA 3.0', 'en', published, null, null];
    });
    const dump = await archive('times.tar.bz2', {
      user_sanitised: [...users, never],
      review: reviews,
      revision: reviews.map(([id = ''], i): Row => [i + 1, id, time, 'A text', null]),
      vote: [],
    });
    const { code, stdout } = await admin([...critiquebrainz, dump]);
    expect(code).toBe(0);
    const { changed, left_out } = JSON.parse(stdout);
    expect(changed).toEqual({
      'invalid published_on to the time of the first revision': wrong.length,
      'invisible name to Reader and the start of the id': 2,
    });
    expect(left_out).toEqual({ 'user: without a UUID or time': 1 });
    for (const [i, [id]] of reviews.entries()) {
      const { body } = await invoke(getReview, { path: { review_id: `${id}` } });
      expect(body.review.published_on).toBe(
        i < wrong.length ? 'Mon, 29 Feb 2016 23:59:59 GMT' : 'Tue, 01 Mar 2016 00:00:00 GMT',
      );
    }
    for (const id of [nameless, blank]) {
      const { body } = await invoke(userFeed, { path: { user_id: `${id}` } });
      const name = `Reader ${`${id}`.slice(0, 4)}`;
      expect(body).toContain(`<title>Reviews by ${name}</title>`);
      expect(body).toContain(`<author><name>${name}</name>`);
    }
  });

  test('warns about another schema version, and refuses other columns', async () => {
    const quiet = silence('error');
    const user: Row = [randomUUID(), '2016-02-29 23:59:59', 'Ann', null];
    const rest = { user_sanitised: [user], revision: [], vote: [] };
    const newer = await archive('newer.tar.bz2', { ...rest, review: [] }, 1, '16');
    const { code, stdout } = await admin([...critiquebrainz, newer]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).written).toEqual({ user: 1 });
    const known = 'has SCHEMA_SEQUENCE 16, but only 15 is known';
    expect(quiet.mock.calls).toEqual([[`${newer} ${known}: see left_out`]]);
    quiet.mockRestore();

    const review = Array.from({ length: 13 }, () => 'x');
    const other = await archive('other.tar.bz2', { ...rest, review: [review, review] }, 1, '16');
    const same = await archive('same.tar.bz2', { ...rest, review: [review] });
    const why = 'no row of cbdump/review has the expected columns';
    await refuses(1, [
      [[...critiquebrainz, other], `Error: ${why}; ${other} ${known}\n`],
      [[...critiquebrainz, same], `Error: ${why}\n`],
    ]);
  });

  test('says what is wrong with an archive', async () => {
    const base = await archive('base.tar.bz2', { user_sanitised: [] });
    const whole = readFileSync(
      await archive('whole.tar.bz2', { review: 'x'.repeat(100_000), revision: [], vote: [] }),
    );
    const tar = spawnSync('bzip2', ['-dc'], { input: whole, maxBuffer: 1e9 }).stdout;
    const cut = [
      ...[1, 60, whole.length / 2, whole.length - 20].map((length) => whole.subarray(0, length)),
      ...[600, 50_000].map((length) => bzip2(tar.subarray(0, length))),
    ].map((bytes, i) => file(`cut-${i}.tar.bz2`, bytes));
    const none = join(folder, 'none.tar.bz2');
    const sentence = (path: string, why: string) =>
      `Error: ${path} cannot be read as a tar archive with bzip2: ${why}\n`;
    const plain = file('plain.tar.bz2', 'no archive');
    const empty = file('empty.tar.bz2', '');
    await refuses(1, [
      [[...critiquebrainz, base], /^Error: no archive has cbdump\/review or cbdump\/revision/],
      ...cut.map((path): [string[], string] => {
        return [[...critiquebrainz, base, path], sentence(path, 'it ends too early')];
      }),
      [[...critiquebrainz, plain], sentence(plain, 'No magic number found')],
      [[...critiquebrainz, base, empty], `Error: ${empty} is empty\n`],
      [[...critiquebrainz, none], /ENOENT: no such file .*none.tar.bz2'\n$/],
      [[...critiquebrainz, base, none], /ENOENT: no such file .*none.tar.bz2'\n$/],
      [[...critiquebrainz, base, folder], /EISDIR.*\n$/],
    ]);
  });
});
