import { randomUUID } from 'node:crypto';
import { handler as batchGetReviews } from '../../../../functions/api/batch-get-reviews.ts';
import { handler as createToken } from '../../../../functions/api/create-token.ts';
import { handler as getMe } from '../../../../functions/api/get-me.ts';
import { handler as listLanguages } from '../../../../functions/api/list-languages.ts';
import { handler as listUsers } from '../../../../functions/api/list-users.ts';
import { handler as noRoute } from '../../../../functions/api/no-route.ts';
import { handler as updateMe } from '../../../../functions/api/update-me.ts';
import { handler as updateReview } from '../../../../functions/api/update-review.ts';
import { tokenExpression } from '../../../../infra/gateway-responses.ts';
import { type EndpointRequest, eventOf } from '../../../../infra/local/gateway/endpoint-event.ts';
import { readPairs } from '../../../../shared/core/http/form.ts';
import { openToken } from '../../../../shared/core/oauth/credentials.ts';
import { parseScopes } from '../../../../shared/core/oauth/scopes.ts';
import { readSession } from '../../../../shared/pages/session/session.ts';
import { cpuOf } from '../../../helpers/cpu.ts';
import { invoke } from '../../../helpers/invoke.ts';

const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const caller = { user_id: randomUUID(), client_id: '0'.repeat(32), scope: 'review vote user' };

/** Repeats `piece` up to this size. */
const fill = (size: number, piece: string) => piece.repeat(Math.floor(size / piece.length));

/**
 * Compares one long input with 16 short ones of the same total size. Linear time takes about as
 * long for both; quadratic time takes 16 times as long for the long one.
 */
async function expectProportion(run: (size: number) => unknown, small = 16 * 1024) {
  const large = 16 * small;
  let pieces = Number.POSITIVE_INFINITY;
  let whole = Number.POSITIVE_INFINITY;
  // The least of several, because a collection of garbage may fall into one.
  for (let i = 0; i < 6; i++) {
    const inPieces = await cpuOf(async () => {
      for (let i = 0; i < 16; i++) await run(small);
    });
    pieces = Math.min(pieces, inPieces);
    whole = Math.min(whole, await cpuOf(() => run(large)));
    if (i > 0 && whole < 5 * pieces + 5) return;
  }
  expect(`${whole} ms in one piece, ${pieces} ms in 16`).toBe('in proportion');
}

describe('parsing time is linear', () => {
  test.each(['a&', 'a=&', '&', '=', '%', '%ff&', 'é&', 'a=%e9%&', '+', '__proto__&'])(
    'pairs of %s',
    (piece) => expectProportion((size) => readPairs(fill(size, piece))),
  );

  test.each(['a', 'a=b;', ';', '=', 'a;', 'session=x;', '"', '%'])('cookies of %s', (piece) =>
    expectProportion((size) => readSession(eventOf({ headers: { cookie: fill(size, piece) } }))),
  );

  test.each(['rva_', 'rva_A=', 'A', '-'])('tokens of %s', (piece) =>
    expectProportion(async (size) => {
      new RegExp(tokenExpression).test(`Bearer ${fill(size, piece)} `);
      await openToken('access', `rva_${fill(size, piece)}`);
    }),
  );

  test.each([',', 'review,', 'x ', ', '])('scopes of %s', (piece) =>
    expectProportion((size) => parseScopes(fill(size, piece))),
  );

  const ifNoneMatch = (tags: string | string[]) => ({ headers: { 'If-None-Match': tags } });
  const ifMatch = (tags: string) => {
    const headers = { 'Content-Type': 'application/json', 'If-Match': tags };
    return { caller, path: { review_id: 'x' }, headers, body: '{}' };
  };
  test.each<[string, unknown, (text: (piece: string) => string) => EndpointRequest]>([
    ['entity tags', listLanguages, (of) => ifNoneMatch(of('"a",'))],
    ['commas', listLanguages, (of) => ifNoneMatch(`"a"${of(',')}x`)],
    ['spaces', listLanguages, (of) => ifNoneMatch(`"a"${of(' ')}x`)],
    ['commas and spaces', listLanguages, (of) => ifNoneMatch(of(' ,\t'))],
    ['quotes', listLanguages, (of) => ifNoneMatch(of('"'))],
    ['weak tags', listLanguages, (of) => ifNoneMatch(of('W/"",'))],
    ['lines of a header', listLanguages, (of) => ifNoneMatch(of('"a" ').split(' '))],
    ['If-Match', updateReview, (of) => ifMatch(of('"."'))],
    ['headers', listLanguages, (of) => ({ headers: headersOf(of('ab')) })],
    ['cursors', listUsers, (of) => ({ query: { cursor: of('Aa-_') } })],
    ['invalid cursors', listUsers, (of) => ({ query: { cursor: of('~') } })],
    ['numbers', listUsers, (of) => ({ query: { offset: of('9') } })],
    ['ids', batchGetReviews, (of) => ({ query: { review_ids: of('x,') } })],
    ['braces', batchGetReviews, (of) => ({ query: { review_ids: of('{') } })],
    ['inc values', getMe, (of) => ({ caller, query: { inc: of('stats,') } })],
    ['segments', noRoute, (of) => ({ path: { proxy: of('1/') } })],
    ['slashes', noRoute, (of) => ({ path: { proxy: of('/') } })],
    ['Basic', createToken, (of) => basic(of('YTph'))],
    ['Basic, padded', createToken, (of) => basic(`YTph${of('=')}!`)],
    ['Basic, encoded', createToken, (of) => basic(Buffer.from(`a:${of('%')}`).toString('base64'))],
  ])('%s', async (_, handler, request) => {
    const sized = (size: number) => request((piece) => fill(size, piece));
    await expectProportion((size) => invoke(handler, sized(size)));
  });

  // The largest JSON body has 128 KB.
  test.each<[string, (text: (piece: string) => string) => string]>([
    ['arrays', (of) => `{"x":${of('[')}${of(']')}}`],
    ['objects', (of) => `${of('{"x":')}1${of('}')}`],
    ['open arrays', (of) => of('[')],
    ['numbers in an array', (of) => `{"display_name":[${of('1,')}1]}`],
    ['objects in an array', (of) => `{"display_name":[${of('{},')}1]}`],
    ['names', (of) => `{${of('"a":1,')}"b":1}`],
    ['white space', (of) => `{${of(' ')}`],
    ['escapes', (of) => `{"display_name":"${of('\\u0000')}"}`],
    ['addresses', (of) => `{"email":"${of('a.')}@${of('a.')}"}`],
  ])('JSON: %s', async (_, body) => {
    const sized = (size: number) => json(body((piece) => fill(size, piece)));
    await expectProportion((size) => invoke(updateMe, sized(size)), 7 * 1024);
  });
});

describe('JSON with many keys', () => {
  const keys = (bytes: number) => {
    const pairs = Array.from(
      { length: bytes / 12 },
      (_, i) => `"k${String(i).padStart(6, '0')}":1`,
    );
    return json(`{"display_name":5,${pairs.join(',')}}`);
  };
  test.each([
    [130_000, 400, 300],
    [4_000_000, 413, 30],
  ])('of %d bytes is answered %d within %d ms', async (bytes, status, milliseconds) => {
    const request = keys(bytes);
    const run = async () => expect(await invoke(updateMe, request)).toHaveStatus(status);
    const taken = [await cpuOf(run), await cpuOf(run), await cpuOf(run)];
    expect(Math.min(...taken)).toBeLessThan(milliseconds);
  });
});

function basic(credentials: string) {
  return { method: 'POST', headers: { ...form, Authorization: `Basic ${credentials}` }, body: '' };
}

const json = (body: string) => ({ method: 'POST', caller, body });

function headersOf(text: string) {
  const names = Array.from({ length: text.length / 64 }, (_, i) => [`x-${i}`, text.slice(0, 60)]);
  return Object.fromEntries(names);
}
