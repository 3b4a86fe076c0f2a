import type { ChangeKind } from '../../../../shared/features/changes/logged-change.ts';
import {
  afterFailure,
  afterTest,
  isDue,
  isSending,
  pauseAfter,
  replayableFrom,
  typeOfReview,
  wants,
} from '../../../../shared/features/webhooks/decisions.ts';
import { isActive } from '../../../../shared/features/webhooks/owners.ts';
import {
  type Attempt,
  type MessageType,
  type Webhook,
  withAttempts,
  withoutCursor,
} from '../../../../shared/features/webhooks/webhook.ts';

const now = Date.parse('2026-11-22T12:00:00.000Z');
const iso = (time: number) => new Date(time).toISOString();
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const cursorAt = (...lanes: number[]) => ({
  lanes: [...lanes, 0, 0, 0, 0, 0, 0, 0, 0].slice(0, 8),
});

function webhook(changed: Partial<Webhook> = {}): Webhook {
  return {
    id: 'w',
    client_id: 'c',
    slot: 1,
    user_id: 'u',
    address: 'https://receiver.example/',
    types: ['review.published'],
    created: iso(now - 9 * day),
    secret_id: '0'.repeat(32),
    state: 'on',
    cursor: cursorAt(now - day),
    since: iso(now - 9 * day),
    failures: 0,
    attempts: [],
    version: 1,
    ...changed,
  };
}

const attempt = (changed: Partial<Attempt> = {}) => ({
  at: iso(now),
  type: 'review.published',
  id: 'rev_1_1',
  status: 200,
  milliseconds: 5,
  ...changed,
});

describe('the pause after failures', () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 5],
    [4, 15],
    [5, 30],
    [6, 60],
    [7, 120],
    [8, 240],
    [9, 480],
    [10, 480],
    [99, 480],
  ])('of %d is about %d minutes', (failures, minutes) => {
    expect(pauseAfter(failures, 0, () => 0)).toBe(0.8 * minutes * minute);
    expect(pauseAfter(failures, 0, () => 0.5)).toBe(minutes * minute);
    expect(pauseAfter(failures, 0, () => 1)).toBe(1.2 * minutes * minute);
  });

  test('is longer if the receiver asks for it, and never shorter', () => {
    expect(pauseAfter(1, 7200, () => 0.5)).toBe(2 * hour);
    expect(pauseAfter(9, 1, () => 0.5)).toBe(8 * hour);
  });
});

describe('after a failure', () => {
  const stuck = { id: 'rev_1_1', type: 'review.published' };
  const decide = (before: Partial<Webhook>, outcome: 'failed' | 'gone', retryAfter?: number) =>
    afterFailure(webhook(before), { outcome, retryAfter }, { stuck, now, chance: () => 0.5 });

  test.each([
    ['failed', 0, 0, minute],
    ['failed', 2, hour, 5 * minute],
    ['failed', 20, 5 * day - 1, 8 * hour],
  ] as const)('%s after %j in %j ms: it is sent again after %j', (outcome, before, age, pause) => {
    const failing_since = before === 0 ? undefined : iso(now - age);
    expect(decide({ failures: before, failing_since }, outcome)).toStrictEqual({
      failures: before + 1,
      failing_since: iso(now - age),
      stuck,
      retry_at: iso(now + pause),
    });
  });

  test.each([
    ['failed', 5 * day, 'failing'],
    ['gone', 0, 'gone'],
  ] as const)(
    '%s %j ms after the first: it is off, because it is %s',
    (outcome, age, off_reason) => {
      const failing_since = iso(now - age);
      expect(decide({ failures: 20, failing_since }, outcome)).toStrictEqual({
        failures: 21,
        failing_since,
        stuck,
        retry_at: undefined,
        state: 'off',
        off_reason,
      });
    },
  );

  test('the next attempt is when the receiver asked for', () => {
    expect(decide({}, 'failed', 3600).retry_at).toBe(iso(now + hour));
  });
});

describe('after a test', () => {
  const end = cursorAt(now);
  const decide = (before: Partial<Webhook>, hasSucceeded: boolean) =>
    afterTest(webhook(before), hasSucceeded, { end, now, chance: () => 0.5 });

  test('a new webhook begins at the end of the log', () => {
    const before = { state: 'new', cursor: undefined, test_due: iso(now), failures: 2 } as const;
    expect(decide(before, true)).toStrictEqual({
      state: 'on',
      cursor: end,
      test_due: undefined,
      failures: 0,
      failing_since: undefined,
      retry_at: undefined,
      stuck: undefined,
    });
  });

  test('one with a new address goes on where it stood', () => {
    expect(decide({ state: 'new' }, true)).toMatchObject({ cursor: cursorAt(now - day) });
  });

  test.each(['on', 'paused', 'off'] as const)('one that is %s stays so', (state) => {
    for (const hasSucceeded of [true, false]) {
      expect(decide({ state, test_due: iso(now) }, hasSucceeded)).toStrictEqual({
        test_due: undefined,
      });
    }
  });

  test.each([
    [0, 0, minute],
    [1, minute, 2 * minute],
    [2, 3 * minute, 5 * minute],
    [4, 23 * minute, 30 * minute],
    // The next one would be more than an hour after the first.
    [5, 53 * minute, undefined],
    [4, 30 * minute, undefined],
  ])('a new one that failed %j times in %j ms is tested again after %j', (failures, age, pause) => {
    const failing_since = failures === 0 ? undefined : iso(now - age);
    expect(decide({ state: 'new', failures, failing_since }, false)).toStrictEqual({
      failures: failures + 1,
      failing_since: iso(now - age),
      test_due: pause && iso(now + pause),
    });
  });
});

describe('a run', () => {
  const end = cursorAt(now);

  test.each<[string, Partial<Webhook>, boolean]>([
    ['has news', {}, true],
    ['has read everything', { cursor: end }, false],
    ['has read a part of the last item', { cursor: { ...end, into: [0, 1] } }, true],
    ['is of another epoch', { cursor: { ...end, epoch: 5 } }, true],
    ['has no cursor', { cursor: undefined }, true],
    ['has to say that the log has restarted', { cursor: end, restarted_at: iso(now) }, true],
    ['fails, and its time has come', { cursor: end, retry_at: iso(now) }, true],
    ['fails, and its time has not come', { retry_at: iso(now + 1) }, false],
    ['is to be tested', { cursor: end, test_due: iso(now) }, true],
    ['is to be tested later', { state: 'new', test_due: iso(now + 1) }, false],
    ['is paused', { state: 'paused' }, false],
    ['is paused, and to be tested', { state: 'paused', test_due: iso(now) }, true],
    ['is off', { state: 'off' }, false],
    [
      'is off, and a message is wanted again',
      { state: 'off', resend: { id: 'rev_1_1', type: 'review.edited', asked: iso(now) } },
      true,
    ],
  ])('whose webhook %s: %j is due: %j', (_, changed, due) => {
    expect(isDue(webhook(changed), end, now)).toBe(due);
  });

  test('leaves nothing out when the epoch begins', () => {
    expect(isDue(webhook({ cursor: end }), { ...end, epoch: now }, now)).toBe(true);
  });

  test.each<[Partial<Webhook>, boolean]>([
    [{}, true],
    [{ retry_at: iso(now) }, true],
    // A test in a pause does not end the pause.
    [{ retry_at: iso(now + 1), test_due: iso(now) }, false],
    [{ state: 'paused' }, false],
    [{ state: 'new' }, false],
    [{ state: 'off' }, false],
  ])('sends messages of the log to %j: %j', (changed, isOn) => {
    expect(isSending(webhook(changed), now)).toBe(isOn);
  });
});

test('a replay is possible at once, and again after an hour', () => {
  expect(replayableFrom(webhook())).toBeLessThanOrEqual(now);
  const replay = { asked: iso(now), until: cursorAt() };
  expect(replayableFrom(webhook({ replay }))).toBe(now + hour);
});

describe('an owner', () => {
  test.each([
    [true, { user_id: 'u' }, { pk: 'USER#u' }],
    [false, { user_id: 'u' }, { blocked_at: iso(now) }],
    [false, undefined, {}],
    [false, { user_id: 'another' }, {}],
    [false, { user_id: 'u' }, undefined],
    [false, { user_id: 'u' }, { deleted_at: iso(now) }],
    [false, { user_id: 'u' }, { deleted_at: iso(now), blocked_at: iso(now) }],
  ])('is active: %s, with %j and %j', (expected, application, user) => {
    expect(isActive(webhook(), application, user)).toBe(expected);
  });
});

describe('the type of a message', () => {
  const all: MessageType[] = [
    'review.published',
    'review.edited',
    'review.voted',
    'review.removed',
  ];
  const only = (...kinds: string[]) => kinds.map((kind) => `review.${kind}`) as MessageType[];

  test.each<[string, MessageType[], ChangeKind[], boolean, string | undefined]>([
    ['the weightiest', all, ['voted', 'edited', 'published'], true, 'review.published'],
    ['the weightiest', all, ['voted', 'edited'], true, 'review.edited'],
    ['of those chosen', only('voted'), ['published', 'voted'], true, 'review.voted'],
    ['of those chosen', only('edited', 'voted'), ['published', 'voted'], true, 'review.voted'],
    ['none chosen', only('removed'), ['published', 'voted'], true, undefined],
    ['removed last', all, ['published', 'edited', 'removed'], false, 'review.removed'],
    ['removed last, not chosen', only('edited'), ['edited', 'removed'], false, 'review.edited'],
    ['published again', all, ['removed', 'published'], true, 'review.published'],
    [
      'published again, not chosen',
      only('removed'),
      ['removed', 'published'],
      true,
      'review.removed',
    ],
    [
      'published again, edited',
      only('removed', 'edited'),
      ['removed', 'published', 'edited'],
      true,
      'review.edited',
    ],
    // A change that the log will have brings the message about the state of now.
    ['removed since', all, ['published'], false, undefined],
    ['removed since, not chosen', only('published'), ['published'], false, 'review.published'],
    ['public again since', all, ['removed'], true, undefined],
    ['public again since, not chosen', only('removed'), ['removed'], true, 'review.removed'],
  ])('is %s: %j of %j, public %j, is %j', (_, types, kinds, isPublic, type) => {
    expect(typeOfReview({ types }, new Set(kinds), isPublic)).toBe(type);
  });
});

describe('a webhook wants', () => {
  const review = { id: 'r', version: 1, kind: 'published', entity_id: 'e', user_id: 'a' } as const;
  const person = { id: 'p', version: 0, kind: 'deleted', client_id: 'c' } as const;
  test.each<[Partial<Webhook>, typeof review | typeof person, boolean]>([
    [{}, review, true],
    [{ types: ['review.edited'] }, review, false],
    [{ entity_id: 'e' }, review, true],
    [{ entity_id: 'another' }, review, false],
    [{ author_id: 'a' }, review, true],
    [{ author_id: 'another' }, review, false],
    [{ types: ['user.deleted'] }, person, true],
    // A choice of reviews does not concern people.
    [{ types: ['user.deleted'], entity_id: 'e' }, person, true],
    [{ types: ['access.revoked'] }, person, false],
    [{ types: ['user.deleted'], client_id: 'another' }, person, false],
    [{ types: ['review.published'] }, person, false],
  ])('with %j: %j is %j', (changed, change, wanted) => {
    expect(wants(webhook(changed), change)).toBe(wanted);
  });

  test('a review logged by older code only if it wants all reviews', () => {
    const { entity_id: _, user_id: __, ...older } = review;
    expect(wants(webhook(), older)).toBe(true);
    expect(wants(webhook({ entity_id: 'e' }), older)).toBe(false);
  });
});

describe('what is stored', () => {
  test('are the last 20 attempts', () => {
    const ids = Array.from({ length: 23 }, (_, i) => `rev_1_${i}`);
    const before = webhook({ attempts: ids.slice(0, 15).map((id) => attempt({ id })) });
    const after = withAttempts(
      before,
      ids.slice(15).map((id) => attempt({ id })),
    );
    expect(after.map(({ id }) => id)).toEqual(ids.slice(3));
  });

  test('of an exported webhook is what its owner has chosen, with both secrets', () => {
    const previous_secret = { secret_id: '1'.repeat(32), until: iso(now + hour) };
    const chosen = { previous_secret, entity_id: 'e', off_reason: 'gone', state: 'off' } as const;
    const exported = withoutCursor(webhook({ ...chosen, failures: 3, retry_at: iso(now) }));
    expect(exported).toMatchObject(chosen);
    expect(exported).toMatchObject({ failures: 0, attempts: [] });
    for (const name of ['cursor', 'retry_at']) expect(exported).not.toHaveProperty(name);
  });
});
