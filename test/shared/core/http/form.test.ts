import { handler as createToken } from '../../../../functions/api/create-token.ts';
import { handler as revokeToken } from '../../../../functions/api/revoke-token.ts';
import { handler as registerApplication } from '../../../../functions/pages/register-application.ts';
import { handler as signOut } from '../../../../functions/pages/sign-out.ts';
import { startSession } from '../../../../shared/pages/session/session.ts';
import { cpuOf } from '../../../helpers/cpu.ts';
import { invoke } from '../../../helpers/invoke.ts';
import { makeUser } from '../../../helpers/world.ts';

const type = 'application/x-www-form-urlencoded';
const cookie = (await startSession((await makeUser()).id)).split(';')[0] ?? '';

const post = (handler: unknown, body: string, contentType = type) =>
  invoke(handler, {
    method: 'POST',
    headers: { cookie, 'Content-Type': contentType },
    body,
  });

const endpoints = [
  ['POST /oauth/token', createToken],
  ['POST /oauth/revoke', revokeToken],
];
const pages = [
  ['POST /account/sign-out', signOut],
  ['POST /account/applications', registerApplication],
];

describe.each(endpoints)('%s', (_, handler) => {
  test('accepts a form of 64 KB', async () => {
    const { status, body } = await post(handler, `client_id=${'x'.repeat(65_526)}`);
    expect(status).toBe(401);
    expect(body.error).toBe('invalid_client');
  });

  test('refuses a larger form: 413', async () => {
    for (const form of [`client_id=${'x'.repeat(65_527)}`, 'é'.repeat(32_769), 'a&'.repeat(3e6)]) {
      const error_description = 'A form may have at most 64 KB';
      const body = { error: 'payload_too_large', error_description };
      expect(await post(handler, form)).toMatchObject({ status: 413, body });
    }
  });

  test.each([
    ['iso-8859-1', 'client_id=\u00e9', 415, 'unsupported_media_type'],
    ['UTF-16', 'client_id=\u00e9', 415, 'unsupported_media_type'],
    ['"UTF-8"', 'client_id=\u00e9', 401, 'invalid_client'],
    ['utf-8', 'client_id=\u00e9', 401, 'invalid_client'],
    ['ISO-8859-1', 'client_id=%c3%a9', 401, 'invalid_client'],
    ['us-ascii', 'client_id=x', 401, 'invalid_client'],
    ['ISO-8859-1', 'client_id=%e9', 400, 'invalid_request'],
  ])('accepts UTF-8 only: charset=%s and %s returns %i', async (charset, form, status, error) => {
    const answer = await post(handler, form, `${type}; charset=${charset}`);
    expect(answer).toMatchObject({ status, body: { error } });
  });

  test.each(['client_id=%', '%zz=1&client_id=100%', 'a=%e&client_id=x'])(
    'keeps a percent sign that encodes nothing: %s',
    async (form) => {
      const body = { error: 'invalid_client' };
      expect(await post(handler, form)).toMatchObject({ status: 401, body });
    },
  );

  test.each(['client_id=caf%e9', 'client_id=%ff', 'a=%c3%&client_id=x'])(
    'refuses %s: 400',
    async (form) => {
      const error_description = 'The form must be UTF-8, percent-encoded';
      const body = { error: 'invalid_request', error_description };
      expect(await post(handler, form)).toMatchObject({ status: 400, body });
    },
  );

  test('does not quote a name outside the characters of RFC 6749 section 5.2', async () => {
    const body = { error_description: 'A field must be sent only once' };
    expect(await post(handler, 'é"\\=1&é"\\=2')).toMatchObject({ status: 400, body });
  });
});

describe.each(pages)('%s', (_, handler) => {
  test('refuses a form of more than 64 KB: 413', async () => {
    const { status, body } = await post(handler, `csrf=${'x'.repeat(65_532)}`);
    expect(status).toBe(413);
    expect(body).toContain('A form may have at most 64 KB.');
  });
});

test.each([...endpoints, ...pages])(
  '%s answers the slowest form of 64 KB at once',
  async (_, handler) => {
    for (const piece of ['a&', '&', '%&', '%ff&', 'a=%e9%&']) {
      const body = piece.repeat(65_536 / piece.length);
      const taken = await cpuOf(async () => {
        expect((await post(handler, body)).status).toBeLessThan(500);
      });
      expect(taken).toBeLessThan(1_000);
    }
  },
);
