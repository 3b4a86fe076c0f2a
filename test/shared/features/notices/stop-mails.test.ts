import { randomUUID } from 'node:crypto';
import type { MailKind } from '../../../../shared/core/user/mail-kinds.ts';
import { addressFor, setMails } from '../../../../shared/core/user/mails.ts';
import { findAccount } from '../../../../shared/core/user/user-repository.ts';
import { stopUrl } from '../../../../shared/features/notices/pages/stop-mails.ts';
import { seal } from '../../../../shared/pages/session/sealed.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { routeOf } from '../../../helpers/routes.ts';
import { ask, requestPage } from '../../../helpers/visit.ts';
import { makeModerator, type Person, signIn } from '../../../helpers/world.ts';

beforeEach(() => {
  process.env.MAIL_FROM = 'reviews@example.org';
});

const email = 'ann@example.org';
const member = () => signIn({ email, email_verified: true });

/** Kinds of mails that a person gets. */
async function kindsOf({ id }: Person): Promise<MailKind[]> {
  const account = await findAccount(id);
  const kinds = ['news', 'desk', 'digest'] as const;
  return kinds.filter((kind) => account && addressFor(account, kind) !== undefined);
}

async function tokenFor({ id }: Person, kind: MailKind = 'news', address = email) {
  const url = await stopUrl({ user_id: id, kind, address });
  return url.slice(url.lastIndexOf('/') + 1);
}

/** Opens the link of a mail, without a session. */
const opens = (token: string) => requestPage(routeOf('show-mail-stop'), { path: { token } });

/** Sends the one click of a mail program. */
const clicks = (token: string, headers = {}, form: string = 'List-Unsubscribe=One-Click') =>
  requestPage(routeOf('stop-mails'), { path: { token }, headers, form });

test('a link shows a button and changes nothing, however often it is opened', async () => {
  const ann = await member();
  const token = await tokenFor(ann);
  for (let i = 0; i < 3; i++) {
    const { status, body, headers } = await opens(token);
    expect(status).toBe(200);
    expect(body).toContain('<form method="post"><button>Stop these mails</button></form>');
    expect(headers['cache-control']).toBe('no-store');
  }
  expect(await kindsOf(ann)).toEqual(['news']);
});

const boundary = { 'content-type': 'multipart/form-data; boundary=x' };
const multipart =
  '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n';

test.each([
  ['as RFC 8058 has it', {}, undefined],
  ['with the body that RFC 8058 prefers', boundary, multipart],
  ['without a body', {}, ''],
])('one click ends the mails, %s, without cookies', async (_, headers, form) => {
  const ann = await member();
  const token = await tokenFor(ann);
  for (let i = 0; i < 2; i++) {
    const answer = await clicks(token, headers, form);
    expect(answer.status).toBe(200);
    expect(answer.headers['set-cookie']).toBeUndefined();
  }
  expect(await kindsOf(ann)).toEqual([]);
});

test.each<[string, (ann: Person, ben: Person) => Promise<string>]>([
  ['that was made up', async () => 'a.b.c'],
  ['of another key', async (ann) => `${(await tokenFor(ann)).slice(0, -4)}AAAA`],
  ['for another address', (ann) => tokenFor(ann, 'news', 'eve@example.org')],
  ['for nobody', () => tokenFor({ id: randomUUID() } as Person)],
  ['of another purpose', ({ id }) => seal('session', { user_id: id, kind: 'news' }, 60)],
  [
    'that has expired',
    async (ann) => {
      const token = await tokenFor(ann);
      stopClock(Date.now() + 181 * 86_400_000);
      return token;
    },
  ],
])('a link %s ends nothing', async (_, make) => {
  const ann = await member();
  const { status } = await clicks(await make(ann, await member()));
  expect(status).toBe(400);
  expect(await kindsOf(ann)).toEqual(['news']);
});

test('a link ends one kind of mails, of one account', async () => {
  const ann = await member();
  const ben = await member();
  await ask('update-account', ann, { form: { mails: 'news digest', news: 'yes', digest: 'yes' } });
  await clicks(await tokenFor(ann, 'digest'));
  expect(await kindsOf(ann)).toEqual(['news']);
  expect(await kindsOf(ben)).toEqual(['news']);
});

test('the account page has the settings, and saves what it showed', async () => {
  const ann = await member();
  const shown = await ask('show-account', ann);
  expect(shown.html).toContain(`We write to ${email} when:`);
  expect(shown.html).not.toContain('waits for moderators');
  const { status, headers } = await ask('update-account', ann, {
    form: { mails: 'digest', digest: 'yes' },
  });
  expect([status, headers.location]).toEqual([303, 'https://api.example/ws/account']);
  expect(await kindsOf(ann)).toEqual(['news', 'digest']);
  await ask('update-account', ann, { form: { mails: 'news digest', digest: 'yes' } });
  expect(await kindsOf(ann)).toEqual(['digest']);
});

test('one form saves the profile and the mails, or nothing, and keeps what was chosen', async () => {
  const ann = await member();
  const chosen = { mails: 'news digest', digest: 'yes' };
  const refused = await ask('update-account', ann, { form: { ...chosen, display_name: ' ' } });
  expect(refused.status).toBe(400);
  expect(refused.html).toMatch(/name="digest" value="yes" checked/);
  expect(refused.html).not.toMatch(/name="news" value="yes" checked/);
  expect(await kindsOf(ann)).toEqual(['news']);
  const form = { ...chosen, display_name: 'Ann Two', email };
  expect((await ask('update-account', ann, { form })).status).toBe(303);
  expect(await kindsOf(ann)).toEqual(['digest']);
  expect((await ask('show-account', ann)).html).toContain('<bdi>Ann Two</bdi>');
});

test.each(['', 'all'])('a form that showed “%s” changes no setting', async (shown) => {
  const ann = await member();
  const { status } = await ask('update-account', ann, { form: { mails: shown } });
  expect(status).toBe(303);
  expect(await kindsOf(ann)).toEqual(['news']);
});

test('the settings say who gets no mails, and are missing where none are sent', async () => {
  const mia = await makeModerator('Mia');
  const { html } = await ask('show-account', mia);
  expect(html).toContain('Your account has none, so you get no mails.');
  expect(html).toContain('Something waits for moderators');
  delete process.env.MAIL_FROM;
  expect((await ask('show-account', mia)).html).not.toContain('<legend>Mails</legend>');
});

test('the account may be gone by the time that its settings are saved', async () => {
  const ann = await member();
  await ann.triesToLeave();
  await expect(setMails(ann.id, { news: false })).rejects.toMatchObject({ status: 404 });
});
