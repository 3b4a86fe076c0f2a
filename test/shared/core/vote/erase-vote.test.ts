import { reviewKey, userKey, voteKey } from '../../../../shared/core/keys.ts';
import { eraseVote } from '../../../../shared/core/vote/vote-repository.ts';
import { readItem, setAttributes } from '../../../helpers/items.ts';
import { makeUser } from '../../../helpers/world.ts';

test.each([
  ['an author who is there loses the karma', undefined, 0],
  ['an author who is being erased is left alone', new Date().toISOString(), 1],
])('erasing a vote: %s', async (_, deleted_at, karma) => {
  const author = await makeUser();
  const voter = await makeUser();
  const id = await author.publishes();
  await voter.votes(id);
  if (deleted_at) await setAttributes(userKey(author.id), { deleted_at });
  const before = await readItem(userKey(author.id));
  const isGone = { ConditionCheck: { Key: userKey('gone'), was: { pk: undefined } } };
  await eraseVote(id, voter.id, isGone);
  expect(await readItem(voteKey(id, voter.id))).toBeUndefined();
  expect(await readItem(reviewKey(id))).toMatchObject({ votes_positive: 0, popularity: 0 });
  const after = await readItem(userKey(author.id));
  expect(after).toMatchObject({ karma });
  if (deleted_at) expect(after).toEqual(before);
});
