import { newReplayPace } from '../../../shared/webhooks/replay-pace.ts';

test('all replays together send 50 messages a second, and never many at once', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  const pace = newReplayPace();
  const begin = performance.now();
  const sent: number[] = [];
  for (let i = 0; i < 5; i++) {
    void (async () => {
      while (performance.now() < begin + 4_000 && sent.length < 1_000) {
        await pace();
        sent.push(performance.now() - begin);
      }
    })();
  }
  await jest.advanceTimersByTimeAsync(2_000);
  // Nobody saves up what was not sent meanwhile.
  expect(sent.filter((time) => time < 1_000)).toHaveLength(50);
  const pauses = sent.slice(1).map((time, i) => time - (sent[i] ?? 0));
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(19);
  await jest.advanceTimersByTimeAsync(10_000);
  const again = performance.now();
  sent.length = 0;
  const late = [pace(), pace(), pace()].map((each) =>
    each.then(() => sent.push(performance.now() - again)),
  );
  await jest.advanceTimersByTimeAsync(1_000);
  await Promise.all(late);
  expect(sent).toEqual([0, 20, 40]);
});
