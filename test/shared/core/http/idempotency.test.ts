import '../../../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { measure } from '../../../../bin/bench/measure.ts';
import { table } from '../../../../shared/base/table/client.ts';
import { preflightHeaders } from '../../../../shared/core/http/response.ts';
import { reportKey } from '../../../../shared/core/keys.ts';
import { setHidden } from '../../../../shared/core/report/decision-repository.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { silence } from '../../../helpers/console.ts';
import { invalid, type TestResponse } from '../../../helpers/invoke.ts';
import { readItem, scanTable } from '../../../helpers/items.ts';
import {
  beginErasure,
  makeUser,
  makeUsers,
  type Person,
  reviewBody,
  visitor,
} from '../../../helpers/world.ts';

let author: Person;
let reader: Person;

beforeAll(async () => {
  [author, reader] = await makeUsers(2);
});
beforeEach(() => {
  silence('error');
});

const quoted = () => `"${randomUUID()}"`;

const withKey = (key: string | string[]) => ({
  'Content-Type': 'application/json',
  'Idempotency-Key': key,
});

/** The author publishes with a key. */
const publish = (body: object, key: string | string[]) => author.triesToPublish(body, withKey(key));

/** The reader reports a review with a key. */
const report = (id: string, key: string, content?: object) =>
  reader.reports(id, content, withKey(key));

const replayed = ({ headers }: TestResponse) => headers['idempotent-replayed'];

async function reviewsOf(entity_id: unknown) {
  const items = (await scanTable()).filter((item) => item.entity_id === entity_id);
  return items.filter(({ sk }) => sk === 'REVIEW').map(({ id }) => id);
}

const records = async () => (await scanTable()).filter(({ sk }) => sk === 'IDEMPOTENCY').length;

describe('POST /review/ with an Idempotency-Key', () => {
  test('acts once, and repeats the same answer', async () => {
    const key = quoted();
    const body = reviewBody();
    const first = await publish(body, key);
    expect(first).toHaveStatus(200);
    expect(replayed(first)).toBe(undefined);
    for (let i = 0; i < 2; i++) {
      const again = await publish(body, key);
      expect(again).toHaveStatus(200);
      expect(replayed(again)).toBe('true');
      expect(again.body).toEqual(first.body);
    }
    expect(await reviewsOf(body.entity_id)).toEqual([first.body.id]);
  });

  test('treats a key with and without quotes as the same', async () => {
    const key = randomUUID();
    const body = reviewBody();
    const first = await publish(body, key);
    const again = await publish(body, ` "${key}" `);
    expect(again.body).toEqual(first.body);
    expect(replayed(again)).toBe('true');
    const escaped = await publish(reviewBody(), '"a \\"b\\" \\\\ c"');
    expect(escaped).toHaveStatus(200);
    expect(replayed(escaped)).toBe(undefined);
  });

  const wrongQuotes = ['', ' ', '""', '"', '"a', 'a"', '"a", "b"'];
  const wrongCharacters = ['a b', 'a,b', 'a;b', '"a\\b"', 'a\\b', 'clé', '"clé"', 'a\u0000'];
  const tooLong = ['a'.repeat(256), `"${'a'.repeat(256)}"`];
  test.each([...wrongQuotes, ...wrongCharacters, ...tooLong, ['"a"', '"a"']])(
    'refuses the key %j: 400',
    async (key) => {
      const characters = '1 to 255 visible ASCII characters, best in double quotes';
      const description = `Idempotency-Key must be ${characters}`;
      expect(await publish(reviewBody(), key)).toMatchObject(invalid(description));
    },
  );

  test.each(['a', 'a'.repeat(255), `"${'a'.repeat(254)}b"`, "0:!#$%&'*+-./<=>?@[]^_`{|}~"])(
    'accepts the key %j',
    async (key) => {
      expect(await publish(reviewBody(), key)).toHaveStatus(200);
    },
  );

  test('refuses a key reused for another request: 422', async () => {
    const key = quoted();
    const body = reviewBody();
    await publish(body, key);
    for (const other of [{ ...body, rating: 5 }, reviewBody()]) {
      const description = expect.stringContaining('choose a new one');
      const refused = { error: 'idempotency_mismatch', description };
      expect(await publish(other, key)).toMatchObject({
        status: 422,
        body: refused,
      });
      const made = Number(other.entity_id === body.entity_id);
      expect(await reviewsOf(other.entity_id)).toHaveLength(made);
    }
    const id = await (await makeUser()).publishes();
    expect(await author.reports(id, {}, withKey(key))).toHaveStatus(422);
    expect(await report(id, key)).toHaveStatus(200);
  });

  test('separates keys by user', async () => {
    const key = quoted();
    const body = reviewBody();
    const first = await publish(body, key);
    const other = await reader.triesToPublish(body, withKey(key));
    expect(other).toHaveStatus(200);
    expect(replayed(other)).toBe(undefined);
    expect(other.body.id).not.toBe(first.body.id);
  });

  test('ignores unknown fields, and defaults sent explicitly', async () => {
    const key = quoted();
    const body = reviewBody();
    const first = await publish(body, key);
    const again = await author.triesToPublish(
      { colour: 'red', ...body, language: 'en', is_draft: false },
      withKey(key),
    );
    expect(again.body).toEqual(first.body);
  });

  test('does not store refusals', async () => {
    const key = quoted();
    const body = reviewBody();
    const before = await records();
    expect(await publish({ ...body, rating: 6 }, key)).toHaveStatus(400);
    await author.publishes({ entity_id: body.entity_id });
    expect(await publish(body, key)).toHaveStatus(400);
    expect(await records()).toBe(before);
    expect(await publish(reviewBody(), key)).toHaveStatus(200);
  });

  test('is valid for a day', async () => {
    const start = Date.now();
    const key = quoted();
    const body = reviewBody();
    const first = await publish(body, key);
    stopClock(start + 86_390_000);
    expect((await publish(body, key)).body).toEqual(first.body);
    stopClock(start + 86_402_000);
    // The review exists, and the key has expired.
    expect(await publish(body, key)).toHaveStatus(400);
    const next = await publish(reviewBody(), key);
    expect(next).toHaveStatus(200);
    expect(replayed(next)).toBe(undefined);
  });

  test('creates one review for 50 parallel requests with equal answers', async () => {
    const key = quoted();
    const body = reviewBody();
    const answers = await Promise.all(Array.from({ length: 50 }, () => publish(body, key)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(answers.filter((answer) => replayed(answer) === undefined)).toHaveLength(1);
    expect(await reviewsOf(body.entity_id)).toEqual([answers[0]?.body.id]);
  });

  test('costs two write units, and nothing without the header', async () => {
    const request = () => ({ method: 'POST', caller: author.caller, body: reviewBody() });
    // The first review of a type and language also registers its facet.
    await measure('create-review', request());
    const before = await records();
    const plain = await measure('create-review', request());
    expect(await records()).toBe(before);
    const keyed = await measure('create-review', {
      ...request(),
      headers: withKey(quoted()),
    });
    expect(await records()).toBe(before + 1);
    expect(keyed.write - plain.write).toBe(2);
    expect(keyed.read).toBe(plain.read);
    expect(keyed.roundTrips).toBe(plain.roundTrips);
  });

  test('is allowed for browsers, which may read if an answer is repeated', async () => {
    const allowed = preflightHeaders['Access-Control-Allow-Headers'].split(', ');
    expect(allowed).toContain('Idempotency-Key');
    const { headers } = await publish(reviewBody(), quoted());
    expect(headers['access-control-expose-headers']?.split(', ')).toContain('Idempotent-Replayed');
  });
});

describe('POST /review/{review_id}/report with an Idempotency-Key', () => {
  test('repeats its answer if the review has been hidden meanwhile', async () => {
    const key = quoted();
    const id = await author.publishes();
    const first = await report(id, key, { reason: 'An advertisement' });
    expect(first).toHaveStatus(200);
    expect(replayed(first)).toBe(undefined);
    await setHidden(id, true);
    const again = await report(id, key, { reason: 'An advertisement' });
    expect(again).toHaveStatus(200);
    expect(again.body).toEqual(first.body);
    expect(replayed(again)).toBe('true');
    expect(await report(id, key, { reason: 'Something else' })).toHaveStatus(422);
    expect(await report(id, quoted())).toHaveStatus(404);
  });

  test('stores nothing for new keys if the review is already reported', async () => {
    const key = quoted();
    const id = await author.publishes();
    const first = await report(id, key);
    const before = await scanTable();
    for (let i = 0; i < 5; i++) {
      const again = await report(id, quoted());
      expect(again).toHaveStatus(200);
      expect(again.body).toEqual(first.body);
      expect(replayed(again)).toBeUndefined();
      // The rest of the limit is returned, unchanged.
      expect(again.headers.ratelimit?.split(';t')[0]).toBe(first.headers.ratelimit?.split(';t')[0]);
    }
    expect(await scanTable()).toEqual(before);
    expect(replayed(await report(id, key))).toBe('true');
    // A key used for another request is still refused.
    expect(await report(id, key, { reason: 'Something else' })).toHaveStatus(422);
    expect(await report(await author.publishes(), key)).toHaveStatus(422);
    expect(await readItem(reportKey(id, reader.id))).toMatchObject({ reason: 'Spam' });
  });

  test('files one report for 20 parallel requests with equal answers', async () => {
    const key = quoted();
    const id = await author.publishes();
    const answers = await Promise.all(Array.from({ length: 20 }, () => report(id, key)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.filter((answer) => replayed(answer) === undefined)).toHaveLength(1);
    expect(await readItem(reportKey(id, reader.id))).toMatchObject({ reason: 'Spam' });
  });
});

describe('when a response of the database is lost', () => {
  let calls: number;

  /** Lets the nth command succeed in the database, and loses its response. */
  async function losing(nth: number, act: () => Promise<TestResponse>) {
    calls = 0;
    table.middlewareStack.add(
      (next) => async (args) => {
        const isLost = ++calls === nth;
        const result = await next(args);
        if (isLost) throw Object.assign(new Error('lost'), { name: 'TimeoutError' });
        return result;
      },
      { name: 'losing', step: 'initialize' },
    );
    try {
      return await act();
    } finally {
      table.middlewareStack.remove('losing');
    }
  }

  test.each(['a new review', 'a report'])(
    '%s sent again is answered as if nothing was lost',
    async (kind) => {
      const statuses = [];
      for (let nth = 1; ; nth++) {
        const key = quoted();
        const id = await author.publishes();
        const body = reviewBody({ entity_type: 'label', language: 'sw' });
        const send = () => (kind === 'a report' ? report(id, key) : publish(body, key));
        const first = await losing(nth, send);
        if (calls < nth) break;
        statuses.push(first.status);
        const again = await send();
        const last = await send();
        expect(again).toHaveStatus(200);
        expect(last).toHaveStatus(200);
        expect(replayed(last)).toBe('true');
        expect(last.body).toEqual(again.body);
        if (first.status === 200) expect(first.body).toEqual(again.body);
        if (again.body.id) {
          const shown = await visitor.reads(again.body.id);
          expect(await reviewsOf(shown.body.review.entity_id)).toEqual([again.body.id]);
        }
      }
      expect(new Set(statuses)).toEqual(new Set([503]));
    },
  );

  test('also answers if the stored answer was read before the loss', async () => {
    const key = quoted();
    const body = reviewBody();
    const first = await publish(body, key);
    // The second command is refused. The third reads the stored answer.
    expect(await losing(3, () => publish(body, key))).toHaveStatus(503);
    expect((await publish(body, key)).body).toEqual(first.body);
  });
});

test('a deleted account receives no stored answer', async () => {
  const going = await makeUser();
  await beginErasure(going);
  expect(await going.triesToPublish(reviewBody(), withKey(quoted()))).toHaveStatus(401);
});
