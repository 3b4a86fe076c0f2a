import { userKey } from '../../shared/core/keys.ts';
import { findAccount } from '../../shared/core/user/user-repository.ts';
import { decideUser } from '../../shared/features/moderation/account-decisions.ts';
import { readItem, setAttributes } from '../helpers/items.ts';
import { ask, pageFor } from '../helpers/visit.ts';
import { makeUser, operator, type Person, signIn } from '../helpers/world.ts';

process.env.MAIL_FROM = 'reviews@example.org';

/** The fields of the account's form as a browser has them, with boxes that are ticked. */
async function formOf(person: Person): Promise<Record<string, string>> {
  const html = await pageFor('show-account', person);
  const [form = ''] =
    /<form method="post" action="[^"]*\/account">[\s\S]*?<\/form>/.exec(html) ?? [];
  const inputs = [...form.matchAll(/<input [^>]*>/g)].map(([input]) => ({
    name: / name="([^"]*)"/.exec(input)?.[1] ?? '',
    value: / value="([^"]*)"/.exec(input)?.[1] ?? '',
    isSent: !/type="checkbox"/.test(input) || / checked/.test(input),
  }));
  const sent = inputs.filter(({ isSent, name }) => isSent && name !== 'csrf');
  return Object.fromEntries(sent.map(({ name, value }) => [name, value]));
}

const save = (person: Person, form: Record<string, string>) =>
  ask('update-account', person, { form });
const contactOf = async ({ id }: Person) => (await findAccount(id))?.contact;
const nameOf = async ({ id }: Person) => (await readItem(userKey(id)))?.display_name;

test('a form that an older tab shows changes only what is changed in it', async () => {
  const ann = await signIn({ email: 'ann@example.org', email_verified: true });
  await save(ann, { display_name: 'Ann' });
  const old = await formOf(ann);
  await save(ann, { ...(await formOf(ann)), display_name: 'Annie', email: 'annie@example.org' });
  expect(await save(ann, { ...old, digest: 'yes' })).toHaveStatus(303);
  expect(await nameOf(ann)).toBe('Annie');
  expect(await contactOf(ann)).toMatchObject({ email: 'annie@example.org', mails_digest: true });
  // This tab has shown no digest, and leaves it.
  const { news: _, ...withoutNews } = old;
  await save(ann, withoutNews);
  expect(await contactOf(ann)).toMatchObject({ mails_news: false, mails_digest: true });
});

test('a name that an import has brought, and nobody could choose, prevents no other change', async () => {
  const ben = await makeUser({ display_name: 'Ben' });
  await setAttributes(userKey(ben.id), { display_name: 'last.fm' });
  const form = await formOf(ben);
  expect(form.display_name).toBe('last.fm');
  expect(await save(ben, { ...form, email: 'ben@example.org' })).toHaveStatus(303);
  expect(await contactOf(ben)).toMatchObject({ email: 'ben@example.org' });
  expect(await nameOf(ben)).toBe('last.fm');
  // Nor may it be chosen anew.
  expect(await save(ben, { display_name: 'last.fm' })).toHaveStatus(400);
});

test('a blocked account may end its mails', async () => {
  const cid = await makeUser({ display_name: 'Cid' });
  await decideUser(cid.id, 'block', operator);
  const { news: _, ...form } = await formOf(cid);
  expect(await save(cid, form)).toHaveStatus(303);
  expect(await contactOf(cid)).toMatchObject({ mails_news: false });
  expect(await save(cid, { ...form, display_name: 'Cyd' })).toHaveStatus(403);
});

test('somebody new keeps the name that is proposed', async () => {
  const dan = await makeUser({ display_name: 'Dan' });
  await setAttributes(userKey(dan.id), { has_proposed_name: true });
  expect(await save(dan, await formOf(dan))).toHaveStatus(303);
  expect(await readItem(userKey(dan.id))).not.toHaveProperty('has_proposed_name');
});
