import { randomUUID } from 'node:crypto';
import { insertUser, setModerator } from '../../../../shared/core/user/name-repository.ts';
import { getUser } from '../../../../shared/core/user/user-repository.ts';
import { findOrCreateUser } from '../../../../shared/features/account/identity-repository.ts';
import type { TransferRecord } from '../../../../shared/features/transfer/record.ts';
import { importWhole } from '../../../helpers/transfer.ts';
import { ask } from '../../../helpers/visit.ts';
import { makeModerator, makeUser, makeUsers, signIn } from '../../../helpers/world.ts';

const noContact = { email: null, musicdb_username: null };
const refused = {
  error: 'invalid_request',
  description: 'display_name must be another name: a moderator of this service has it',
};

const canTake = async (name: string) =>
  (await (await makeUser()).updatesProfile({ display_name: name })).status === 200;

test.each([
  ['Zoë Weiß', 'ZOE\u0308 WEISS'],
  ['Zoé Fix', 'ｚｏé  Ｆｉｘ'],
  ['Νίκος', 'ΝΊΚΟΣ'],
  ['ﬁona', 'Fiona'],
  ['Anna', '\u0410nna'],
  ['Anna', 'Ann\u0430'],
  ['Vera', '\u03bdera'],
  ['Ilse', 'llse'],
  ['Ilse', '1lse'],
  ['Torn', 'Tom'],
  ['Mia', 'rnia'],
  ['Bob', 'B0b'],
  ['Ole', '\u{1d40e}le'],
  ['\u041d\u0438\u043d\u0430', 'H\u0438\u043da'],
])('the name of a moderator, %s, is refused to others that read like it: %s', async (name, as) => {
  const mia = await makeModerator(name);
  const ann = await makeUser();
  for (const display_name of [name, as, ` ${name}`]) {
    const answer = await ann.updatesProfile({ display_name });
    expect(answer).toMatchObject({ status: 400, body: refused });
  }
  expect((await getUser(ann.id)).display_name).toBe('Ann');
  const { display_name } = await signIn({ display_name: as });
  expect(display_name).toMatch(/^Reader /);
  expect(await mia.updatesProfile({ display_name: as })).toHaveStatus(200);
  expect([await canTake(name), await canTake(`${name} II`)]).toEqual([false, true]);
  await setModerator(mia.id, false);
  expect([await canTake(as), await canTake(name)]).toEqual([true, true]);
});

test.each([
  'Moderator',
  'moderator',
  'MODERATORS',
  'Anna Scott (moderator)',
  'Anna-Moderatorin',
  'M\u043ederat\u043er',
  'm0derat0r',
  'M\u00f6derator',
  '\uff4d\uff4f\uff44',
  'admin',
  'Site Admins',
  'Administrator',
  'Operator 2',
  'Staff',
])('the role in %s is for moderators', async (name) => {
  const ann = await makeUser();
  const description = 'display_name must not name a role, such as moderator or admin';
  const answer = await ann.updatesProfile({ display_name: name });
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request', description } });
  await expect(insertUser({ display_name: name, ...noContact })).rejects.toMatchObject({
    status: 400,
    message: description,
  });
  const signedUp = await signIn({ display_name: name });
  expect(signedUp).toMatchObject({ display_name: `Reader ${signedUp.id.slice(0, 4)}` });
  const mia = await makeModerator(`Mia ${randomUUID()}`);
  expect(await mia.updatesProfile({ display_name: `${name} ${mia.id}` })).toHaveStatus(200);
});

test.each(['Modesto', 'Adminah', 'Staffan', 'Ann Opera', 'Model', 'Ali', 'Anna', 'Жанна', '山田'])(
  'the name %s is for everybody',
  async (name) => {
    expect(await canTake(name)).toBe(true);
  },
);

test('a person who has the name of a role already keeps it', async () => {
  const ann = await makeUser({ display_name: 'Moderator' });
  expect(await ann.updatesProfile({ display_name: 'Moderator' })).toHaveStatus(200);
  expect(await ann.updatesProfile({ display_name: 'MODERATOR' })).toHaveStatus(200);
});

test('sign-up, import and the operator are refused it alike', async () => {
  await makeModerator('Ina');
  await expect(insertUser({ display_name: 'INA', ...noContact })).rejects.toMatchObject({
    status: 400,
    message: refused.description,
  });
  const identity = { issuer: 'https://id.example', subject: randomUUID() };
  const signedUp = await findOrCreateUser({ ...identity, display_name: 'ina', ...noContact });
  expect(signedUp).toMatchObject({ display_name: `Reader ${signedUp.id.slice(0, 4)}` });
  expect(signedUp).toMatchObject({ has_proposed_name: true });

  const created = new Date().toISOString();
  const record = (display_name: string, more = {}): TransferRecord => {
    return { kind: 'user', id: randomUUID(), display_name, created, contact: null, ...more };
  };
  const ina = record('İna'.normalize('NFKD').replace('\u0307', ''));
  const uma = record('Uma', { is_moderator: true });
  const namesake = record('Uma');
  for (const records of [[ina, uma], [namesake]]) await importWhole(records);
  const nameOf = async (each: TransferRecord) =>
    (await getUser('id' in each ? `${each.id}` : '')).display_name;
  expect(await nameOf(ina)).toMatch(/^Reader [\da-f]{4}$/);
  expect(await nameOf(uma)).toBe('Uma');
  expect(await nameOf(namesake)).toMatch(/^Reader [\da-f]{4}$/);
  expect(await canTake('uma')).toBe(false);
});

test('who has the name already keeps it, until it changes', async () => {
  const ann = await makeUser({ display_name: 'Eva' });
  const eva = await makeUser();
  const mod = await makeModerator('Eva');
  expect(await ann.updatesProfile({ display_name: 'Eva', email: 'eva@example.org' })).toHaveStatus(
    200,
  );
  expect(await ann.updatesProfile({ display_name: 'EVA' })).toHaveStatus(200);
  expect(await ann.updatesProfile({ display_name: 'Eve' })).toHaveStatus(200);
  expect(await ann.updatesProfile({ display_name: 'Eva' })).toHaveStatus(400);
  // Another moderator of the same name keeps it reserved.
  const second = await makeModerator('eva');
  await setModerator(second.id, true);
  await mod.leaves();
  expect(await eva.updatesProfile({ display_name: 'Eva' })).toHaveStatus(400);
  expect(await second.updatesProfile({ display_name: 'Ida' })).toHaveStatus(200);
  expect(await eva.updatesProfile({ display_name: 'Ida' })).toHaveStatus(400);
  expect(await eva.updatesProfile({ display_name: 'Eva' })).toHaveStatus(200);
});

test('a promotion racing with the name leaves it to one of both, or to an earlier holder', async () => {
  for (let round = 0; round < 4; round++) {
    const name = `Kai ${round}`;
    const kai = await makeUser({ display_name: name });
    const others = await makeUsers(2);
    await Promise.all([
      setModerator(kai.id, true),
      ...others.map((each) => each.updatesProfile({ display_name: name })),
    ]);
    expect((await getUser(kai.id)).is_moderator).toBe(true);
    expect(await canTake(name)).toBe(false);
    const takers = [await makeModerator('Lea'), await makeModerator('Lea')];
    const answers = await Promise.all(
      takers.map((each) => each.updatesProfile({ display_name: `New ${round}` })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  }
});

test('pages mark a moderator beside the name', async () => {
  const mark = '<bdi>Ole</bdi> <span class="role">moderator</span>';
  const ole = await makeModerator('Ole');
  const review_id = await ole.publishes();
  const pages = [
    ['show-user', { path: { user_id: ole.id } }],
    ['show-review', { path: { review_id } }],
    ['show-report', { path: { review_id } }],
  ] as const;
  const ann = await makeUser();
  for (const [operation, request] of pages) {
    expect((await ask(operation, ann, request)).html).toContain(mark);
  }
  await setModerator(ole.id, false);
  for (const [operation, request] of pages) {
    const { html } = await ask(operation, ann, request);
    expect(html).toContain('<bdi>Ole</bdi>');
    expect(html).not.toContain('class="role"');
  }
});
