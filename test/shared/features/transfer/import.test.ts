import { randomUUID } from 'node:crypto';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import { beforeSend } from '../../../helpers/sends.ts';
import { reviewRecord, sourced } from '../../../helpers/transfer.ts';
import { makeUser } from '../../../helpers/world.ts';

const review = (user_id: string, entity_id: string) => reviewRecord(user_id, { entity_id });

test('a dry run refuses what another part, read at the same time, would have written', async () => {
  const { id } = await makeUser();
  const entity_id = randomUUID();
  const others = Array.from({ length: 49 }, () => review(id, randomUUID()));
  const second = review(id, entity_id);
  // A part has 50 reviews, so the second review of the entity is alone in the next part.
  const records = [review(id, entity_id), ...others, second];
  const first = Promise.withResolvers<void>();
  const spy = beforeSend(async ({ input }) => {
    // The last read of the next part waits until the first part is done.
    const isLastRead = input.ExpressionAttributeValues?.[':pk'] === `REVIEW#${second.id}`;
    if (isLastRead) await first.promise;
  });
  const found = await importRecords(sourced(records), {
    isDryRun: true,
    onProgress: (done) => {
      if (done === 50) first.resolve();
    },
  });
  spy.mockRestore();
  expect(found).toEqual({
    written: { review: 50 },
    present: {},
    refused: { 'the author has another review of this entity': 1 },
  });
  expect(await importRecords(sourced(records))).toEqual(found);
});
