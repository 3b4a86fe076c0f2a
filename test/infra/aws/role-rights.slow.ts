import { randomUUID } from 'node:crypto';
import { type Route, routes } from '../../../shared/base/routes.ts';
import { functionNameOf } from '../../helpers/aws/checks.ts';
import { findRight, rightsIn, sessionToken, signingFault } from '../../helpers/aws/roles.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';

const rights = rightsIn((await synthesized()).plain.service);

describe('a request to AWS is refused', () => {
  const time = (ago: number) => new Date(Date.now() - ago).toISOString();
  const sent = ({ date = time(0), scope = 'eu-central-1/dynamodb', token = sessionToken }) => {
    const stamp = date.replaceAll(/[-:]|\.\d{3}/g, '');
    const signed = 'content-type;host;x-amz-date;x-amz-security-token;x-amz-target';
    return {
      authorization: `AWS4-HMAC-SHA256 Credential=get-user/${stamp.slice(0, 8)}/${scope}/aws4_request, SignedHeaders=${signed}, Signature=${'0'.repeat(64)}`,
      'x-amz-date': stamp,
      'x-amz-security-token': token,
    };
  };
  test.each([
    ['without session token', () => ({ ...sent({}), 'x-amz-security-token': undefined })],
    ['with the session token of another', () => sent({ token: 'x' })],
    ['six minutes late', () => sent({ date: time(360_000) })],
    ['six minutes early', () => sent({ date: time(-360_000) })],
    ['without date', () => ({ ...sent({}), 'x-amz-date': undefined })],
    ['without region', () => sent({ scope: '/dynamodb' })],
    [
      'with an unsigned date',
      () => ({ ...sent({}), authorization: sent({}).authorization.replace('x-amz-date;', '') }),
    ],
  ])('%s', (_, headers) => {
    expect(signingFault(sent({}))).toBeUndefined();
    expect(signingFault(headers())).toEqual(expect.any(String));
  });
});

describe('a role', () => {
  const id = randomUUID();
  const on =
    (action: string, resource: string) =>
    (...partitions: string[]) => ({ action: `dynamodb:${action}`, resource, partitions });
  const get = on('GetItem', 'table');
  const batchGet = on('BatchGetItem', 'table');
  const update = on('UpdateItem', 'table');
  const query = on('Query', 'table');
  const list = on('Query', 'index');

  /** Returns the functions of routes of a kind whose roles allow this. */
  const able = (deed: ReturnType<typeof get>, isMeant: (route: Route) => boolean) =>
    routes.flatMap((route) => {
      const name = functionNameOf(route.operation);
      return isMeant(route) && findRight(rights.get(name) ?? [], deed) ? [name] : [];
    });

  test.each([
    ['the grants of a user', query(`USER#${id}`)],
    ['the grants of an application', list(`CLIENT#${'f'.repeat(32)}`)],
    ['an application', get(`APP#${'f'.repeat(32)}`)],
    ['an e-mail address among users', batchGet(`USER#${id}`, `CONTACT#${id}`)],
    ['the votes of a user', list(`VOTER#${id}`)],
    ['the log of moderation', list('DECISION')],
    ['the whole table', on('Scan', 'table')()],
    ['in order to change the numbers of an entity', update(`ENTITY#${id}`)],
  ])('of who reads for everybody does not allow to read %s', (_, deed) => {
    expect(able(deed, ({ table }) => table === 'public')).toEqual([]);
  });

  test.each([
    ['an application', `APP#${'f'.repeat(32)}`],
    ['a webhook', 'WEBHOOK'],
    ['an identity', `IDENTITY#${'f'.repeat(64)}`],
  ])('of who votes, reports or writes reviews does not reach %s', (_, partition) => {
    const isMeant = ({ within }: Route) => /^(votes|reports|reviews)$/.test(`${within}`);
    expect(able(get(partition), isMeant)).toEqual([]);
    expect(able(update(partition), isMeant)).toEqual([]);
    expect(able(update(`REVIEW#${id}`), isMeant).length).toBeGreaterThan(5);
  });

  test('to count what waits for moderators is that of pages that greet them', () => {
    const greeting = able(list('CASE'), ({ table }) => table === 'public');
    expect([...new Set(greeting)]).toEqual(['pages-public', 'pages-public-asks']);
  });
});
