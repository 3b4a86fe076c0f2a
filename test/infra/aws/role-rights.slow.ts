import { randomUUID } from 'node:crypto';
import { routes } from '../../../shared/routes.ts';
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

describe('who reads for everybody', () => {
  const readers = routes
    .filter(({ table }) => table === 'public')
    .map(({ operation }) => functionNameOf(operation));

  const on =
    (action: string, resource: string) =>
    (...partitions: string[]) => ({ action: `dynamodb:${action}`, resource, partitions });
  const get = on('GetItem', 'table');
  const batchGet = on('BatchGetItem', 'table');
  const query = on('Query', 'table');
  const byAuthor = on('Query', 'author-by-date');
  const all = on('Query', 'all-by-date');
  const id = randomUUID();
  test.each([
    ['the grants of a user', query(`USER#${id}`)],
    ['the grants of an application', byAuthor(`CLIENT#${'f'.repeat(32)}`)],
    ['an application', get(`APP#${'f'.repeat(32)}`)],
    ['the applications of a user', byAuthor(`OWNER#${id}`)],
    ['an identity', get(`IDENTITY#${'f'.repeat(64)}`)],
    ['an e-mail address', get(`CONTACT#${id}`)],
    ['an e-mail address among users', batchGet(`USER#${id}`, `CONTACT#${id}`)],
    ['an identity among reviews', batchGet(`REVIEW#${id}`, `IDENTITY#${'f'.repeat(64)}`)],
    ['a code', get(`CODE#${'f'.repeat(64)}`)],
    ['a code among users', batchGet(`CODE#${'f'.repeat(64)}`, `USER#${id}`)],
    ['the codes of a user', byAuthor(`APPROVER#${id}`)],
    ['an authorization request', get(`REQUEST#${'f'.repeat(32)}`)],
    ['the votes of a user', byAuthor(`VOTER#${id}`)],
    ['the reports of a user', byAuthor(`REPORTER#${id}`)],
    ['the log of moderation', all('DECISION')],
    ['a decision', get(`DECISION#${id}`)],
    ['what was decided about a user', byAuthor(`SUBJECT#${id}`)],
    ['the hidden reviews that a user has deleted', byAuthor(`HIDDEN#${id}`)],
    ['who has voted on a day', all('VOTES')],
    ['what is left to add up', query('DEFERRED')],
    ['the drafts of a user', byAuthor(`UNLISTED#${id}`)],
    ['the whole table', on('Scan', 'table')()],
    ['in order to change the numbers of an entity', on('UpdateItem', 'table')(`ENTITY#${id}`)],
    ['in order to replace a review', on('PutItem', 'table')(`REVIEW#${id}`)],
  ])('must not read %s', (_, deed) => {
    const able = readers.filter((operation) => findRight(rights.get(operation) ?? [], deed));
    expect(able).toEqual([]);
  });

  test('only pages that greet moderators count what waits for them', () => {
    for (const partition of ['CASE', 'CASE#held', 'CASE#appeal', 'PROPOSAL', 'NAMING']) {
      const able = readers.filter((name) => findRight(rights.get(name) ?? [], all(partition)));
      expect([...new Set(able)]).toEqual(['pages-public', 'pages-public-asks']);
    }
  });

  test.each([
    ['list-reviews', all('REVIEW')],
    ['list-reviews', byAuthor(id)],
    ['list-reviews', on('Query', 'facet-by-popularity')('release_group|en')],
    ['list-users', all('USER')],
    ['batch-get-reviews', batchGet(`REVIEW#${id}`, `USER#${id}`)],
    ['batch-get-entities', batchGet(`ENTITY#${id}`)],
    ['get-entity', on('Query', 'entity-by-popularity')(id)],
    ['pages-public-asks', on('UpdateItem', 'table')(`METADATA#work#${id}`)],
    ['update-names', all('DUE#musicdb')],
    ['update-names', on('ConditionCheckItem', 'table')(`ENTITY#${id}`)],
  ])('%s may read what it is for', (operation, deed) => {
    expect(findRight(rights.get(operation) ?? [], deed)).toBeDefined();
  });
});

describe('who votes, reports or writes reviews', () => {
  const id = randomUUID();
  const operations = [
    'put-vote',
    'delete-vote',
    'pages-write-votes',
    'report-review',
    'pages-write-reports',
    'create-review',
    'update-review',
    'pages-write-reviews',
  ];
  test.each(['UpdateItem', 'PutItem', 'GetItem'])(
    'must not %s an application or webhook',
    (name) => {
      const partitions = [`APP#${'f'.repeat(32)}`, 'WEBHOOK', `IDENTITY#${'f'.repeat(64)}`];
      const able = operations.filter((operation) =>
        partitions.some((partition) => {
          const deed = { action: `dynamodb:${name}`, resource: 'table', partitions: [partition] };
          return findRight(rights.get(operation) ?? [], deed);
        }),
      );
      expect(able).toEqual([]);
    },
  );
  test('may change a review', () => {
    const deed = { action: 'dynamodb:UpdateItem', resource: 'table', partitions: [`REVIEW#${id}`] };
    const unable = operations.filter((operation) => !findRight(rights.get(operation) ?? [], deed));
    expect(unable).toEqual([]);
  });
});
