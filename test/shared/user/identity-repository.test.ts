import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { findOrCreateUser } from '../../../shared/user/identity-repository.ts';
import { scanTable } from '../../helpers/fixtures.ts';

const profile = { display_name: 'Ann', email: null, musicdb_username: null };

test('a person is issuer and subject together, and has one account', async () => {
  const [a, b] = [randomUUID(), randomUUID()];
  const people = [
    { issuer: 'https://a.example', subject: a },
    { issuer: 'https://b.example', subject: a },
    { issuer: 'https://a.example', subject: b },
    // Not to be confused with the first when they are put together.
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

test('the profile is taken at the first sign-in only', async () => {
  const person = { issuer: 'https://a.example', subject: randomUUID() };
  const first = await findOrCreateUser({ ...person, ...profile });
  const again = await findOrCreateUser({ ...person, ...profile, display_name: 'Other' });
  expect(again).toEqual(first);
});
