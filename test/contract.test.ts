import * as v from 'valibot';
import { handler as createToken } from '../functions/api/create-token.ts';
import { response } from '../functions/api/get-review.ts';
import type { Route } from '../shared/base/routes.ts';
import { checkResponse, faultsOf } from './helpers/contract.ts';
import { invoke } from './helpers/invoke.ts';
import { routeOf } from './helpers/routes.ts';
import { makeUser, visitor } from './helpers/world.ts';

const review = routeOf('get-review');

describe('a response that differs from its endpoint’s description fails its test', () => {
  const schema = v.object({
    list: v.array(v.object({ id: v.number(), note: v.optional(v.string()) })),
    by_id: v.record(v.string(), v.union([v.string(), v.object({ label: v.string() })])),
  });
  const good = { list: [{ id: 1 }, { id: 2, note: '' }], by_id: { a: 'x', b: { label: 'y' } } };

  test('accepts a response that matches its description', () => {
    expect(faultsOf(schema, good)).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['more is not described', { ...good, more: null }],
    ['list.1.more is not described', { ...good, list: [{ id: 1 }, { id: 2, more: [] }] }],
    ['by_id.b.more is not described', { ...good, by_id: { b: { label: 'y', more: 1 } } }],
    ['list.0.id: Invalid type: Expected number but received "1"', { ...good, list: [{ id: '1' }] }],
    ['by_id: Invalid key: Expected "by_id" but received undefined', { list: [] }],
    ['the body: Invalid type: Expected Object but received null', null],
  ])('%s', (fault, body) => {
    expect(faultsOf(schema, body)).toEqual([fault]);
  });

  test('names the operation of the handler', async () => {
    const author = await makeUser();
    const { body } = await visitor.reads(await author.publishes());
    expect(faultsOf(response, body)).toEqual([]);
    const more = { review: { ...body.review, shelf: 7 } };
    const exchange = { route: review, method: 'GET', status: 200, body: more };
    await expect(checkResponse(exchange)).rejects.toThrow(
      '200 of get-review is not as described: review.shelf is not described',
    );
    await expect(checkResponse({ ...exchange, method: 'HEAD' })).resolves.toBeUndefined();
  });

  test('names the missing part of the description, and the command that writes it', async () => {
    const route = { ...review, path: '/review/new' } as Route;
    const exchange = { route, method: 'GET', status: 404, body: { error: '', description: '' } };
    await expect(checkResponse(exchange)).rejects.toThrow('OpenAPI has no GET /review/new');
  });

  test('an error has a code and a description, and nothing else', async () => {
    const error = { error: 'not_found', description: 'Review not found' };
    const exchange = { route: review, method: 'GET', status: 404 };
    await expect(checkResponse({ ...exchange, body: error })).resolves.toBeUndefined();
    await expect(checkResponse({ ...exchange, body: { ...error, stack: '' } })).rejects.toThrow(
      '404 of get-review is not as described: stack is not described',
    );
    await expect(checkResponse({ ...exchange, body: { message: '' } })).rejects.toThrow(
      'error: Invalid key',
    );
  });

  test('errors of the token endpoint use the words of RFC 6749', async () => {
    const { body } = await invoke(createToken, { method: 'POST', body: '', headers: {} });
    expect(Object.keys(body)).toEqual(['error', 'error_description']);
  });
});
