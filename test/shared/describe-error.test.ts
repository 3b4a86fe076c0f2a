import { inspect } from 'node:util';
import { describeError } from '../../shared/describe-error.ts';

const item = 'ann@example.org';

test('describes our errors with message and stack', () => {
  expect(describeError(new TypeError('x is not a function'))).toEqual({
    name: 'TypeError',
    message: 'x is not a function',
    stack: expect.arrayContaining([expect.stringMatching(/^at .*describe-error\.test\.ts/)]),
  });
});

test('omits messages of AWS SDK errors, which may quote an item', () => {
  const quoting = Object.assign(new Error(item, { cause: new Error(item) }), {
    name: 'ItemCollectionSizeLimitExceededException',
    $metadata: {},
    Item: { email: { S: item } },
  });
  const told = describeError(quoting);
  expect(told).toEqual({ name: quoting.name, stack: expect.any(Array) });
  expect(JSON.stringify(told)).not.toContain(item);
  expect(describeError(new Error('failed', { cause: quoting }))).toMatchObject({
    message: 'failed',
    cause: { name: quoting.name },
  });
  expect(JSON.stringify(describeError(new Error('x', { cause: quoting })))).not.toContain(item);
});

test('describes a refused connection by its code', () => {
  const refused = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
  expect(describeError(new TypeError('fetch failed', { cause: refused }))).toMatchObject({
    message: 'fetch failed',
    cause: { name: 'AggregateError', code: 'ECONNREFUSED' },
  });
});

test('describes a thrown value that is no error by its type only', () => {
  expect(describeError(item)).toEqual({ name: 'string' });
  const loop = new Error('loop');
  loop.cause = loop;
  expect(describeError(loop)).toMatchObject({ cause: { name: 'Error', message: 'loop' } });
});

test('prints whole lines on a terminal', () => {
  const shown = inspect({ message: 'Request failed', error: describeError(new Error('broken')) });
  expect(shown).toContain('broken');
  expect(shown).toMatch(/'at .*describe-error\.test\.ts/);
  expect(shown).not.toMatch(/\[(Object|Array)\]/);
});

test.each([
  ['database or disk is full', 'The disk is full'],
  ['Error code 13: database or disk is full', 'The disk is full'],
  ['disk I/O error', 'The disk cannot be read or written'],
  ['attempt to write a readonly database', 'The disk or the file of the database is read-only'],
])('names the fault of a disk in %j of the embedded engine', (message, told) => {
  const failure = Object.assign(new Error(`${item} ${message}`), {
    name: 'InternalServerError',
    $metadata: {},
  });
  const described = describeError(failure);
  expect(described).toMatchObject({ name: 'InternalServerError', message: told });
  expect(JSON.stringify(described)).not.toContain(item);
});
