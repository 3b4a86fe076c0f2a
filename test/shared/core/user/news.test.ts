import { tryUpdate } from '../../../../shared/base/table/transact.ts';
import { userKey } from '../../../../shared/core/keys.ts';
import { newsUpdate } from '../../../../shared/core/user/news.ts';
import { readItem } from '../../../helpers/items.ts';
import { beginErasure, makeUser } from '../../../helpers/world.ts';

test('a person reads how much news there is', async () => {
  const { id } = await makeUser();
  for (let i = 0; i < 2; i++) expect(await tryUpdate(newsUpdate(id, 'name'))).toBe(true);
  expect(await readItem(userKey(id))).toMatchObject({ news_name: 2 });
});

test('an account that is being deleted gets no news', async () => {
  const { id } = await makeUser();
  await beginErasure({ id });
  expect(await tryUpdate(newsUpdate(id, 'name'))).toBe(false);
  expect(await readItem(userKey(id))).not.toHaveProperty('news_name');
});

test('an account that is gone does not come back with news', async () => {
  const id = '00000000-0000-4000-8000-000000000000';
  expect(await tryUpdate(newsUpdate(id, 'webhook'))).toBe(false);
  expect(await readItem(userKey(id))).toBeUndefined();
});
