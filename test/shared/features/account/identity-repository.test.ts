import { randomUUID } from 'node:crypto';
import { findOrCreateUser } from '../../../../shared/features/account/identity-repository.ts';
import { scanTable } from '../../../helpers/items.ts';

const profile = { display_name: 'Ann', email: null, musicdb_username: null };

test('issuer and subject together identify a person, who has one account', async () => {
  const a = randomUUID();
  const b = randomUUID();
  const people = [
    { issuer: 'https://a.example', subject: a },
    { issuer: 'https://b.example', subject: a },
    { issuer: 'https://a.example', subject: b },
    // Concatenated, this identity must differ from the first.
    { issuer: 'https://a.example","', subject: a },
  ];
  const found = await Promise.all(
    people.flatMap((person) =>
      Array.from({ length: 10 }, () => findOrCreateUser({ ...person, ...profile })),
    ),
  );
  const ids = people.map((_, i) => new Set(found.slice(10 * i, 10 * i + 10).map(({ id }) => id)));
  expect(ids.map(({ size }) => size)).toEqual([1, 1, 1, 1]);
  expect(new Set(ids.flatMap((set) => [...set])).size).toBe(4);
  expect((await scanTable()).filter(({ sk }) => sk === 'USER')).toHaveLength(4);
});

test('the profile is copied at the first sign-in only', async () => {
  const person = { issuer: 'https://a.example', subject: randomUUID() };
  const first = await findOrCreateUser({ ...person, ...profile });
  expect(await findOrCreateUser({ ...person, ...profile, display_name: 'Other' })).toEqual(first);
});
