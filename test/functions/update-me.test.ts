import { handler as getMe } from '../../functions/api/get-me.ts';
import { handler } from '../../functions/api/update-me.ts';
import { contactKey, userKey } from '../../shared/core/keys.ts';
import { deleteAccount } from '../../shared/features/account/delete-account.ts';
import { invoke } from '../helpers/invoke.ts';
import { readItem, setAttributes } from '../helpers/items.ts';
import { makeUser } from '../helpers/world.ts';

describe('POST /user/me', () => {
  test.each([
    [{ display_name: 'Ann', email: 'ann+reviews@example.co.uk' }],
    [{ display_name: '名'.repeat(64) }],
    [{ display_name: '🎷'.repeat(64) }],
    [{ display_name: ' x ' }],
    [{ display_name: 'J.R.R. Tolkien' }],
    [{ display_name: 'M.I.A.' }],
    [{ display_name: 'St. Vincent, Jr.' }],
    [{ display_name: 'ann.smith' }],
    [{ display_name: 'Mr.Robot 2.0' }],
    [{ display_name: 'x.comet' }],
    [{ display_name: '👩‍💻 🏳️‍🌈 ❤️ 1️⃣ 👍🏽' }],
    [{ display_name: 'می‌خواهم' }],
    [{ display_name: 'ශ්‍රී' }],
    [{ display_name: 'র‍্যাব' }],
    [{ display_name: 'e\u0301 ﬁ ĳ\u00a0x' }],
    [{ display_name: '葛\u{e0100}城' }],
    [{ display_name: 'שלום' }],
    // A Malayalam chillu as written before Unicode 5.1, and the flag of England.
    [{ display_name: 'കുമാര്\u200d നായര്\u200d' }],
    [{ display_name: 'Tom \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}' }],
    [{ display_name: '<b>"Ann" & \'Bob\'</b>' }],
    [{ email: `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(58)}.ef` }],
    [{ karma: 1000, id: 'x', identity: 'x', deleted_at: 'x', version: 9 }],
  ])('accepts %j', async (body) => {
    const { id, caller } = await makeUser();
    const before = await readItem(userKey(id));
    const answer = await invoke(handler, { caller, method: 'POST', body });
    expect(answer).toHaveStatus(200);
    expect(answer.body.message).toBe('Request processed successfully');
    const sent = body as { display_name?: string; email?: string };
    const { display_name = before?.display_name, email = null } = sent;
    expect(await readItem(userKey(id))).toEqual({ ...before, display_name });
    expect((await invoke(getMe, { caller })).body.user).toMatchObject({ display_name, email });
  });

  const blank = [
    '\u0000',
    '\u200b',
    '\u0301',
    '\u3164',
    '\u2800',
    '\u115f\u1160',
    '\ufe0f',
    '\xa0\u3000',
  ];
  const invisible = [...'\u200b\u2060\ufeff\u00ad\u3164\u2800\u034f\uffff'].map(
    (each) => `a${each}b`,
  );
  const directed = ['\u202eevil', 'a\u202db', 'a\u2066b\u2069', 'a\u200fb', 'a\u061cb', 'a\u2028b'];
  const tagged = ['a\u{e0041}', 'a\u{e0067}\u{e007f}', '\u{1f3f4}\u{e0067}'];
  const joined = ['\u200dab', 'ab\u200c', 'a \u200db', 'a\u200d\u200db'];
  test.each([
    [{ display_name: '  ' }, 'display_name'],
    [{ display_name: 'a\u0000b' }, 'display_name'],
    [{ display_name: 'a\nb' }, 'display_name'],
    [{ display_name: 'a\u0085b' }, 'display_name'],
    [{ display_name: '\ud800' }, 'display_name'],
    ...[...blank, ...invisible, ...directed, ...tagged, ...joined].map(
      (display_name): [unknown, string] => [{ display_name }, 'display_name'],
    ),
    ...[
      'Reviews team: account locked, see evil.com/login',
      'https://x',
      'www.evil',
      'evil.com',
      'See EVIL.Com!',
      'Ann (evil.de)',
      'ann@evil.example.org',
      'ann@evil.example',
      'mail ann@evil.agency',
      'Ann@évil．museum!',
      'evil。com',
      'evil．com',
      'évil.рф',
      'evil.xn--p1ai',
      '203.0.113.9',
      'a.shop-b.online, now',
    ].map((display_name): [unknown, string] => [{ display_name }, 'address of a website']),
    [{ email: '' }, 'email'],
    [{ email: 'Ann <a@example.com>' }, 'email'],
    [{ email: ' a@example.com' }, 'email'],
    [{ email: 1 }, 'email'],
    [{ email: ['a@example.com'] }, 'email'],
    [{ display_name: 'Ann', email: 'x' }, 'email'],
    [[], 'body'],
    ['null', 'body'],
    ['{', 'body'],
    ['', 'body'],
  ])('refuses %j', async (body, name) => {
    const { id, caller } = await makeUser();
    const before = await readItem(userKey(id));
    const answer = await invoke(handler, { caller, method: 'POST', body });
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(answer.body.description).toContain(name);
    expect(await readItem(userKey(id))).toEqual(before);
  });

  test('treats null as not sent', async () => {
    const { id, caller } = await makeUser({ display_name: 'Ann' });
    await setAttributes(contactKey(id), { email: 'ann@example.com', musicdb_username: null });
    const before = [await readItem(userKey(id)), await readItem(contactKey(id))];
    for (const body of [{ display_name: null }, { display_name: null, email: null }]) {
      expect(await invoke(handler, { caller, method: 'POST', body })).toHaveStatus(200);
      expect([await readItem(userKey(id)), await readItem(contactKey(id))]).toEqual(before);
    }
  });

  test('refuses a deleted account, and does not restore it', async () => {
    const { id, caller } = await makeUser();
    await deleteAccount(id);
    const before = await readItem(userKey(id));
    const body = { display_name: 'Back', email: 'a@example.com' };
    const answer = await invoke(handler, { caller, method: 'POST', body });
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
    expect(await readItem(userKey(id))).toEqual(before);
  });
});
