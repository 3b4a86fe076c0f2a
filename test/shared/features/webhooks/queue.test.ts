import { Queue } from '../../../../shared/features/webhooks/queue.ts';

/** Adds a task that ends when `end` is called. */
function add(queue: Queue, name: string, begun: string[], isFirst = false) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const result = queue.run(() => {
    begun.push(name);
    return promise;
  }, isFirst);
  return { result, end: () => resolve(name), fail: () => reject(new Error(name)) };
}

const settled = () => new Promise(setImmediate);

test('tasks begin in the order in which they came, so many at a time', async () => {
  const queue = new Queue(2);
  const begun: string[] = [];
  const tasks = ['a', 'b', 'c', 'd'].map((name) => add(queue, name, begun));
  const [a, b, c] = tasks;
  await settled();
  expect(begun).toEqual(['a', 'b']);
  b?.end();
  expect(await b?.result).toBe('b');
  await settled();
  expect(begun).toEqual(['a', 'b', 'c']);
  a?.end();
  c?.end();
  await settled();
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
});

test('tasks that go first wait for each other, and for no others', async () => {
  const queue = new Queue(1);
  const begun: string[] = [];
  const all = [
    add(queue, 'a', begun),
    add(queue, 'b', begun),
    add(queue, 'first', begun, true),
    add(queue, 'second', begun, true),
  ];
  for (const each of all) each.end();
  await Promise.all(all.map(({ result }) => result));
  expect(begun).toEqual(['a', 'first', 'second', 'b']);
});

test('a task that fails gives its place to the next one', async () => {
  const queue = new Queue(1);
  const begun: string[] = [];
  const failing = add(queue, 'a', begun);
  const next = add(queue, 'b', begun);
  failing.fail();
  await expect(failing.result).rejects.toThrow('a');
  next.end();
  expect(await next.result).toBe('b');
  // The place is free again.
  const last = add(queue, 'c', begun);
  last.end();
  expect(await last.result).toBe('c');
});
