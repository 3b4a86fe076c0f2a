import * as v from 'valibot';
import { hashOfAddress } from '../../../../shared/core/user/claimable.ts';
import { Email } from '../../../../shared/core/user/user.ts';

test.each([
  ['ann@example.org', 'ann@example.org'],
  ['Ann.O+films@Example.ORG', 'Ann.O+films@example.org'],
  ["o'brien@example.co.uk", "o'brien@example.co.uk"],
  ['eva@bücher.example', 'eva@xn--bcher-kva.example'],
  ['eva@BÜCHER.example', 'eva@xn--bcher-kva.example'],
  ['eva@xn--bcher-kva.example', 'eva@xn--bcher-kva.example'],
  // IDNA takes the full stop of CJK as a dot, and a combining mark with its letter.
  ['eva@例え。テスト', 'eva@xn--r8jz45g.xn--zckzah'],
  ['eva@bu\u0308cher.example', 'eva@xn--bcher-kva.example'],
  ['eva@пример.рф', 'eva@xn--e1afmkfd.xn--p1ai'],
])('%s is the address %s', (text, address) => {
  expect(v.parse(Email, text)).toBe(address);
  expect(v.parse(Email, address)).toBe(address);
  expect(hashOfAddress(text)).toBe(hashOfAddress(address));
});

const noAddress = 'must be one email address';
test.each([
  ['ann', noAddress],
  ['', noAddress],
  ['@example.org', noAddress],
  ['ann@', noAddress],
  ['ann@localhost', noAddress],
  ['a..b@example.org', noAddress],
  ['.a@example.org', noAddress],
  ['a.@example.org', noAddress],
  ['|x@example.org', noAddress],
  ['"a b"@example.org', noAddress],
  ['a@b@example.org', noAddress],
  ['a@example.org, b@example.org', noAddress],
  ['a@example.org\r\nBcc: b@example.org', noAddress],
  ['a@exa%6dple.org', noAddress],
  ['a@example.org/x', noAddress],
  ['a@example..org', noAddress],
  ['a@-example.org', noAddress],
  ['a@example.org.', noAddress],
  ['a@127.0.0.1', noAddress],
  ['a@0x7f.1', noAddress],
  ['a@[127.0.0.1]', noAddress],
  [`${'a'.repeat(65)}@example.org`, noAddress],
  ['jörg@example.org', 'must have only ASCII before the @'],
  [`a@${'b'.repeat(60)}.${'c'.repeat(250)}`, 'must have at most 254 characters'],
  // 254 characters that are more in DNS.
  [`a@${'ü'.repeat(50)}.${'ü.'.repeat(90)}example`, noAddress],
])('%j is none', (text, message) => {
  const { issues, success } = v.safeParse(Email, text);
  expect(success).toBe(false);
  expect(issues?.[0].message).toBe(message);
});
