import { handler as getUserFeed } from '../../../functions/api/get-user-feed.ts';
import { handler as showReview } from '../../../functions/pages/show-review.ts';
import { withoutControls } from '../../../shared/base/without-controls.ts';
import { mailOf } from '../../../shared/features/notices/letter.ts';
import { invoke } from '../../helpers/invoke.ts';
import { makeUser, text, visitor } from '../../helpers/world.ts';

/** U+0008, a form feed, U+0085, U+009F, two noncharacters. */
const controls = '\u0008\f\u0085\u009f\ufffe\u{1ffff}';

/** Characters that neither XML 1.0 nor HTML may contain. */
const forbidden =
  /[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\u{10000}-\u{1fffd}]/u;

test('controls are left out, and all else stays', () => {
  const kept = 'Tab\t, line\r\n, é, 日本, \u200d, \u202b, \ufeff, 🎷 and \ufffd.';
  expect(withoutControls(`a${controls}\ud800b${kept}`)).toBe(`ab${kept}`);
});

test('of all code points, each is left out or stays as Unicode says', () => {
  const isLeftOut = (code: number) =>
    (code < 0x20 && ![0x09, 0x0a, 0x0d].includes(code)) ||
    (code >= 0x7f && code <= 0x9f) ||
    (code >= 0xd800 && code <= 0xdfff) ||
    (code >= 0xfdd0 && code <= 0xfdef) ||
    (code & 0xfffe) === 0xfffe;
  const wrong: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code);
    const left = withoutControls(character);
    if (left !== (isLeftOut(code) ? '' : character)) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

test('pages and feeds leave out the controls of a text, and JSON has them', async () => {
  const author = await makeUser();
  const written = `${text.trim()}${controls}!`;
  const id = await author.publishes({ text: written });
  expect((await visitor.sees(id)).text).toBe(written);
  const shown = `${text.trim()}!`;
  for (const [handler, path] of [
    [showReview, { review_id: id }],
    [getUserFeed, { user_id: author.id }],
  ] as const) {
    const { body } = await invoke(handler, { path });
    expect(body).toContain(shown);
    expect(body).not.toMatch(forbidden);
  }
});

test('mails leave them out', () => {
  const { text: plain, html } = mailOf(
    {
      subject: 'News',
      lines: [{ text: `Blue${controls} Train`, url: 'https://reviews.example/' }],
    },
    { to: 'ann@example.org', kind: 'news', stopUrl: 'https://reviews.example/stop', id: '1' },
  );
  expect(plain).toContain('Blue Train');
  expect(html).toContain('Blue Train');
  expect(`${plain}${html}`).not.toMatch(forbidden);
});
