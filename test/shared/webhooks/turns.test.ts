import {
  type Claim,
  nextOf,
  type Turn,
  type TurnKind,
  Turns,
} from '../../../shared/webhooks/turns.ts';

const claim = (kind: TurnKind, owner: string, since = 0) => ({ kind, owner, since });
const claims = (count: number, kind: TurnKind, owner = '') =>
  Array.from({ length: count }, (_, i) => claim(kind, owner || `${kind} ${i}`));

describe('the next turn', () => {
  test('is that of who waits longest', () => {
    const waiting = [claim('slow', 'a', 3), claim('slow', 'b', 1), claim('slow', 'c', 2)];
    expect(nextOf(waiting, [])).toBe(waiting[1]);
  });

  test('is that of the account with the fewest turns, although others wait longer', () => {
    const waiting = [claim('slow', 'many', 1), claim('slow', 'one', 2), claim('slow', 'none', 3)];
    const underWay = [...claims(2, 'slow', 'many'), ...claims(1, 'slow', 'one')];
    expect(nextOf(waiting, underWay)).toBe(waiting[2]);
    expect(nextOf(waiting.slice(0, 2), underWay)).toBe(waiting[1]);
  });

  test('is of another kind if all places of a kind are taken', () => {
    const tarpits = claims(50, 'slow');
    const begun = [];
    for (const each of tarpits) if (nextOf([each], begun)) begun.push(each);
    expect(begun.length).toBeLessThan(50);
    for (const kind of ['asked', 'quick', 'replay'] as const) {
      expect(nextOf([claim(kind, 'another')], begun)).toBeDefined();
    }
  });

  /** Begins as many turns as may be under way at once. */
  function beginAll(waiting: readonly Claim[]) {
    const left = new Set(waiting);
    const underWay: Claim[] = [];
    for (let i = 0; i < waiting.length; i++) {
      const next = nextOf([...left], underWay);
      if (!next) break;
      left.delete(next);
      underWay.push(next);
    }
    return underWay;
  }

  test.each(['asked', 'quick', 'slow', 'replay'] as const)(
    'of a kind leaves four fifths of the places to other accounts: %s',
    (kind) => {
      const all = beginAll(claims(100, kind));
      const own = beginAll(claims(100, kind, 'greedy'));
      expect(own.length).toBeGreaterThan(0);
      expect(own.length * 5).toBeLessThanOrEqual(all.length);
    },
  );

  test('is none beyond 50', () => {
    const kinds = ['asked', 'quick', 'slow', 'replay'] as const;
    const begun = kinds.flatMap((kind) => beginAll(claims(100, kind)));
    expect(begun).toHaveLength(50);
  });

  test('is no replay while a live receiver or a test waits for a place', () => {
    const replay = claim('replay', 'a', 0);
    for (const kind of ['quick', 'asked'] as const) {
      const underWay = beginAll(claims(100, kind));
      const live = claim(kind, 'another', 9);
      expect(nextOf([replay, live], underWay)).toBeUndefined();
      expect(nextOf([replay], underWay)).toBe(replay);
      expect(nextOf([replay, live], [])).toBe(live);
      // Of an account that waits for itself.
      const own = claim(kind, 'greedy', 9);
      const busy = beginAll(claims(100, kind, 'greedy'));
      expect(nextOf([replay, own], busy)).toBe(replay);
    }
    expect(nextOf([replay, claim('slow', 'b')], beginAll(claims(100, 'slow')))).toBe(replay);
  });
});

describe('turns', () => {
  let turnsLeft = 0;

  beforeEach(() => {
    turnsLeft = 1_500;
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  });
  afterEach(() => {
    expect(turnsLeft).toBeGreaterThan(0);
  });

  const sleep = (milliseconds: number) =>
    new Promise((resolve) => setTimeout(resolve, milliseconds));

  /** A receiver with messages that wait for it. */
  interface Receiver extends Claim {
    answersAfter: number;
    messages: number;
    turns: number;
    /** Milliseconds since the begin, of each message. */
    sent: number[];
  }

  const receiver = (kind: TurnKind, owner: string, answersAfter: number, messages: number) => ({
    ...claim(kind, owner),
    answersAfter,
    messages,
    turns: 0,
    sent: [],
  });

  /** Serves receivers by a clock that only tests move. An endless loop of turns stops and fails. */
  function serve() {
    const begin = performance.now();
    let now = 0;
    const most = { now: 0 };
    async function take(one: Receiver, turn: Turn) {
      if (--turnsLeft <= 0) await new Promise(() => {});
      one.turns++;
      most.now = Math.max(most.now, ++now);
      while (one.messages > 0) {
        one.since = performance.now();
        one.sent.push(one.since - begin);
        await sleep(one.answersAfter);
        one.messages--;
        if (turn.isOver()) break;
      }
      now--;
      return one.messages > 0;
    }
    return { turns: new Turns<Receiver>((one) => one, take), most };
  }

  test('all have one, at most 50 at a time', async () => {
    const { turns, most } = serve();
    const all = Array.from({ length: 400 }, (_, i) => {
      const kind = (['asked', 'quick', 'slow', 'replay'] as const)[i % 4] ?? 'quick';
      return receiver(kind, `${i}`, 10, 1);
    });
    turns.add(all);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(all.filter(({ messages }) => messages > 0)).toEqual([]);
    expect(most.now).toBeGreaterThan(40);
    expect(most.now).toBeLessThanOrEqual(50);
  });

  test('beside 120 slow receivers of three accounts, others hardly wait', async () => {
    const { turns } = serve();
    const slow = Array.from({ length: 120 }, (_, i) => receiver('slow', `${i % 3}`, 14_500, 64));
    turns.add(slow);
    const patient = receiver('slow', 'another', 1_500, 64);
    turns.add([patient]);
    await jest.advanceTimersByTimeAsync(5_000);
    const fresh = receiver('asked', 'new', 100, 1);
    const quick = receiver('quick', 'instant', 5, 1);
    turns.add([fresh, quick]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect([fresh.messages, quick.messages]).toEqual([0, 0]);
    await jest.advanceTimersByTimeAsync(94_000);
    expect(patient.messages).toBe(0);
    // Each account has its part, and all of its receivers have turns in time.
    await jest.advanceTimersByTimeAsync(100_000);
    expect(slow.filter((each) => each.turns === 0)).toEqual([]);
  });

  test('of slow receivers come in the order of their waiting', async () => {
    const { turns } = serve();
    const all = Array.from({ length: 40 }, (_, i) => ({
      ...receiver('slow', 'a', 2_000, 3),
      since: -i,
    }));
    turns.add(all);
    await jest.advanceTimersByTimeAsync(40_000);
    const firsts = all.map(({ sent }) => sent[0] ?? Number.POSITIVE_INFINITY);
    expect(firsts).toEqual(firsts.toSorted((a, b) => b - a));
    // Nobody has a second turn before everybody has had a first.
    const seconds = all.map(({ sent }) => sent[1] ?? Number.POSITIVE_INFINITY);
    expect(Math.min(...seconds)).toBeGreaterThanOrEqual(Math.max(...firsts));
  });

  test('are over after a second if another could begin in its place', async () => {
    const { turns } = serve();
    const first = receiver('quick', 'a', 100, 50);
    turns.add([first]);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(first.turns).toBe(1);
    const others = Array.from({ length: 3 }, () => receiver('quick', 'a', 100, 50));
    turns.add(others);
    await jest.advanceTimersByTimeAsync(1_500);
    expect(others.filter((each) => each.turns === 0)).toEqual([]);
    await jest.advanceTimersByTimeAsync(3_000);
    expect(first.turns).toBeGreaterThan(1);
  });

  test('go on while those who wait could not begin', async () => {
    const { turns } = serve();
    const alone = receiver('slow', 'another', 1_500, 8);
    turns.add(Array.from({ length: 50 }, () => receiver('slow', 'greedy', 14_500, 8)));
    turns.add([alone]);
    await jest.advanceTimersByTimeAsync(12_000);
    expect(alone).toMatchObject({ turns: 1, messages: 0 });
  });

  test('are over when the receiver has become of another kind', async () => {
    const { turns } = serve();
    const one = receiver('quick', 'a', 500, 4);
    turns.add([one]);
    await jest.advanceTimersByTimeAsync(600);
    one.kind = 'slow';
    await jest.advanceTimersByTimeAsync(2_000);
    expect(one).toMatchObject({ turns: 2, messages: 0 });
  });

  test('of a replay are over as soon as live receivers wait for places', async () => {
    const { turns } = serve();
    const replay = receiver('replay', 'a', 100, 100);
    turns.add([replay]);
    await jest.advanceTimersByTimeAsync(250);
    turns.add(Array.from({ length: 40 }, (_, i) => receiver('quick', `${i}`, 900, 1)));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(replay.messages).toBe(97);
    await jest.advanceTimersByTimeAsync(12_000);
    expect(replay.messages).toBe(0);
  });

  test('say when nobody is left, or that the time is over', async () => {
    const { turns } = serve();
    expect(await turns.areOver(1_000)).toBe(true);
    turns.add([receiver('quick', 'a', 3_000, 1)]);
    const answers: boolean[] = [];
    void turns.areOver(1_000).then((answer) => answers.push(answer));
    await jest.advanceTimersByTimeAsync(999);
    expect(answers).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(answers).toEqual([false]);
    void turns.areOver(60_000).then((answer) => answers.push(answer));
    await jest.advanceTimersByTimeAsync(2_000);
    expect(answers).toEqual([false, true]);
  });
});
