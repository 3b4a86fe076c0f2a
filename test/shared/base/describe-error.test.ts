import { inspect } from 'node:util';
import { describeError } from '../../../shared/base/describe-error.ts';

const item = 'ann@example.org';

test('describes our errors with message and stack', () => {
  expect(describeError(new TypeError('x is not a function'))).toEqual({
    name: 'TypeError',
    message: 'x is not a function',
    stack: expect.arrayContaining([expect.stringMatching(/^at .*describe-error\.test\.ts/)]),
  });
});

test('has the name and message of an error of DynamoDB, which names the broken rule', () => {
  const message =
    'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: sk';
  const refused = Object.assign(new Error(message), { name: 'ValidationException', $metadata: {} });
  expect(describeError(refused)).toMatchObject({ name: 'ValidationException', message });
  expect(describeError(new Error('failed', { cause: refused }))).toMatchObject({
    message: 'failed',
    cause: { name: 'ValidationException', message },
  });
});

test('leaves out a request that an emulator of DynamoDB quotes, and fields of an error', () => {
  const quoting = Object.assign(
    new Error(`1 validation error: TransactItems { item: ${item} }`, { cause: new Error('x') }),
    { name: 'ValidationException', $metadata: {}, Item: { email: { S: item } } },
  );
  const described = describeError(quoting);
  expect(described.message).toBe('1 validation error: TransactItems {…');
  expect(JSON.stringify(described)).not.toContain(item);
});

test('has the beginning of a long message', () => {
  expect(describeError(new Error('x'.repeat(1_000))).message).toHaveLength(200);
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
