import { pause, takeTurn } from '../../../../shared/features/notices/pace.ts';
import { stopClock } from '../../../helpers/clock.ts';
import '../../../helpers/table.ts';

let addresses = 0;
let address: string;
beforeEach(() => {
  address = `member${++addresses}@example.org`;
});

/** Takes the turn of the next mail, which must be now. */
async function taken() {
  const turn = await takeTurn(address, 'news');
  if (turn.kind !== 'taken') throw new Error(turn.kind);
  return turn;
}

test('one of two runs that outlive their lease gets the turn of a mail', async () => {
  const turns = await Promise.all([takeTurn(address, 'news'), takeTurn(address, 'news')]);
  expect(turns.map(({ kind }) => kind).toSorted()).toEqual(['later', 'taken']);
});

test('a run that ends late gives nobody the turn of a mail that another run has sent', async () => {
  const now = Date.now();
  stopClock(now);
  const late = await taken();
  stopClock(now + pause + 1);
  const next = await taken();
  await late.end('failed');
  expect(await takeTurn(address, 'news')).toEqual({
    kind: 'later',
    due_at: now + 1 + 2 * pause,
  });
  await next.end('sent');
});
