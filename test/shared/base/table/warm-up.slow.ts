import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { serve } from '../../../helpers/listen.ts';
import { root } from '../../../helpers/service.ts';

const run = promisify(execFile);

interface Received {
  request: string;
  port: number | undefined;
  isSigned: boolean;
}
const received: Received[] = [];
beforeEach(() => {
  received.length = 0;
});

/** In milliseconds, until the answer to a ping. */
let latency = 0;
beforeEach(() => {
  latency = 0;
});

/** Stands for DynamoDB. */
const endpoint = await serve(
  createServer((request, response) => {
    const { method, url, headers, socket } = request;
    received.push({
      request: `${method} ${url} ${headers['x-amz-target'] ?? ''}`.trim(),
      port: socket.remotePort,
      isSigned: headers.authorization !== undefined,
    });
    const answer = () => response.end(url === '/ping' ? 'healthy' : '{}');
    request.resume().on('end', () => (url === '/ping' ? setTimeout(answer, latency) : answer()));
  }),
);

const lambda = { AWS_LAMBDA_FUNCTION_NAME: 'reviews-getreview' };
const keys = { AWS_REGION: 'eu-north-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };

/** Imports the client in a process of its own, then runs `more`. Returns what is printed. */
async function imported(environment: Record<string, string>, more = '', { pause = 200 } = {}) {
  const script = `
    import { setTimeout as sleep } from 'node:timers/promises';
    const { table } = await import('./shared/base/table/client.ts');
    const { getItem } = await import('./shared/base/table/query.ts');
    await sleep(${pause});
    ${more}
    console.log('imported');
    process.exit();`;
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    env: { PATH: process.env.PATH, AWS_ENDPOINT_URL_DYNAMODB: endpoint, ...environment },
  });
  return stdout + stderr;
}

describe('the import of the table’s client', () => {
  test('sends nothing on a server', async () => {
    expect(await imported(keys)).toBe('imported\n');
    expect(received).toEqual([]);
  });
  test('asks DynamoDB on Lambda for nothing that needs a right', async () => {
    expect(await imported({ ...keys, ...lambda })).toBe('imported\n');
    expect(received).toEqual([{ request: 'GET /ping', port: expect.any(Number), isSigned: false }]);
  });
  test('leaves a connection to the first request, which is sent as ever', async () => {
    const more = `console.log(await getItem({ pk: 'a', sk: 'b' }));`;
    expect(await imported({ ...keys, ...lambda }, more)).toBe('undefined\nimported\n');
    const [ping, read, ...others] = received;
    expect(others).toEqual([]);
    expect(read).toEqual({
      request: 'POST / DynamoDB_20120810.GetItem',
      port: ping?.port,
      isSigned: true,
    });
  });
  test('lets the first request wait for that connection, however early it comes', async () => {
    latency = 100;
    const more = `console.log(await getItem({ pk: 'a', sk: 'b' }));`;
    const options = { pause: 0 };
    expect(await imported({ ...keys, ...lambda }, more, options)).toBe('undefined\nimported\n');
    expect(received.map(({ request }) => request)).toEqual([
      'GET /ping',
      'POST / DynamoDB_20120810.GetItem',
    ]);
    expect(new Set(received.map(({ port }) => port)).size).toBe(1);
  });
  test('makes the first request wait for a third of a second at most', async () => {
    latency = 1_500;
    const more = `const begin = performance.now();
      console.log(await getItem({ pk: 'a', sk: 'b' }), performance.now() - begin < 1_000);`;
    const options = { pause: 0 };
    const printed = await imported({ ...keys, ...lambda }, more, options);
    expect(printed).toBe('undefined true\nimported\n');
  });
  test.each([
    ['DynamoDB cannot be reached', { ...keys, AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' }],
    ['the endpoint is no address', { ...keys, AWS_ENDPOINT_URL_DYNAMODB: 'nowhere' }],
    ['there are no credentials', { AWS_REGION: 'eu-north-1', AWS_EC2_METADATA_DISABLED: 'true' }],
    ['there is no region', { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }],
  ])('succeeds on Lambda although %s', async (_, environment) => {
    expect(await imported({ HOME: '/nowhere', ...environment, ...lambda })).toBe('imported\n');
  });
});
