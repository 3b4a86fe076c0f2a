import { loadFunction } from '../../infra/local/invoke.ts';
import { routes } from '../../shared/base/routes.ts';
import type { Item } from '../../shared/base/table/item.ts';
import { provideStorage, type Storage, storage } from '../../shared/base/table/storage.ts';
import { isJson } from '../helpers/contract.ts';
import { invoke } from '../helpers/invoke.ts';
import { makeScene, samplesOf } from '../helpers/samples.ts';
import { applyStream } from '../helpers/stream.ts';
import '../helpers/table.ts';

// DynamoDB returns the attributes of items and maps in any order. An answer with another order of
// its fields has another ETag.

const { author, reader, scene } = await makeScene();

beforeAll(async () => {
  await reader.publishesHidden();
  await author.reports(scene.own);
  await reader.votes(scene.review_id);
  await applyStream();
});

/** Returns a value whose objects have their fields in the opposite order. */
function reversed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(reversed) as T;
  if (Object.prototype.toString.call(value) !== '[object Object]') return value;
  const fields = Object.entries(value as object).map(([name, each]) => [name, reversed(each)]);
  return Object.fromEntries(fields.toReversed()) as T;
}

/** A storage that returns the attributes of another one in the opposite order. */
function opposite(other: Storage): Storage {
  return {
    ...other,
    get: async (...of) => (await other.get(...of)).map(reversed<Item | undefined>),
    query: async (...of) => {
      const { items, next } = await other.query(...of);
      return { items: items.map(reversed<Item>), next };
    },
  };
}

/** Returns the body as text, without a cursor of the moment. */
const textOf = (body: object) =>
  JSON.stringify(body, (name, value) => (name === 'next' ? undefined : value));

const reads = routes.filter((route) => route.method === 'GET' && isJson(route));

test.each(reads)('$method $path', async (route) => {
  const handler = await loadFunction(route.operation);
  const caller = route.access === 'public' ? undefined : reader.caller;
  const usual = storage();
  if (!usual) throw new Error('This test needs a storage in the process');
  for (const sample of samplesOf(route, scene)) {
    const first = await invoke(handler, { ...sample, caller });
    provideStorage(opposite(usual));
    const second = await invoke(handler, { ...sample, caller });
    provideStorage(usual);
    expect(first).toHaveStatus(200);
    expect(textOf(second.body)).toBe(textOf(first.body));
  }
});
