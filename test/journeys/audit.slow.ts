import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from '../../shared/features/audit/audit.ts';
import { differences } from '../helpers/recount.ts';
import { applyStream, followStream } from '../helpers/stream.ts';
import { makeUsers, type Person } from '../helpers/world.ts';

test('repairs find nothing to repair while eight people vote and four publish', async () => {
  const authors = await makeUsers(4);
  const voters = await makeUsers(8);
  const entity_id = randomUUID();
  const ids = await Promise.all(authors.map((author) => author.publishes()));
  let isOver = false;
  let deeds = 0;

  const flip = async (voter: Person) => {
    for (let vote = true; !isOver; vote = !vote) {
      await voter.triesToVote(`${ids[deeds++ % ids.length]}`, { vote });
      await sleep(20);
    }
  };
  const publish = async (author: Person) => {
    while (!isOver) {
      const id = await author.publishes({ entity_id, rating: 1 + (deeds++ % 5) });
      await sleep(20);
      await author.deletes(id);
    }
  };
  const traffic = Promise.all([...voters.map(flip), ...authors.map(publish)]);

  const sum = { differences: 0, repaired: 0, changing: 0 };
  const end = Date.now() + 15_000;
  await followStream(async () => {
    for (let pass = 0; pass < 30 && Date.now() < end; pass++) {
      for await (const each of audit({ repair: true, settle: 20, patience: 60_000 })) {
        sum.differences += each.differences.length;
        sum.repaired += each.repaired;
        sum.changing += each.changing.length;
      }
    }
    isOver = true;
    await traffic;
  });
  expect(deeds).toBeGreaterThan(100);
  expect(sum).toMatchObject({ differences: 0, repaired: 0 });
  // Otherwise nothing was written during the audit.
  expect(sum.changing).toBeGreaterThan(0);
  await applyStream();
  expect(await differences()).toEqual([]);
});
