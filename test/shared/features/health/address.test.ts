import { createServer } from 'node:http';
import { checkAddress } from '../../../../shared/features/health/address.ts';
import { countMetrics, silence } from '../../../helpers/console.ts';
import { listen } from '../../../helpers/listen.ts';

let answer = 200;
const asked: (string | undefined)[] = [];
const server = createServer((request, response) => {
  asked.push(request.url);
  response.writeHead(answer).end('{}');
});
const origin = await listen(server);
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

let counted: string[];
beforeEach(() => {
  counted = countMetrics();
  asked.length = 0;
  process.env.OWN_ADDRESS = `${origin}/ws`;
  silence('error');
});

test.each([
  [200, []],
  // Others ask too much, and the API says so.
  [429, []],
  // API Gateway does not get the key that CloudFront sends.
  [403, ['Unanswered']],
  [502, ['Unanswered']],
])('the own address answers %i', async (status, expected) => {
  answer = status;
  await checkAddress();
  expect(counted).toEqual(expected);
  expect(asked).toEqual(['/ws/1/review/languages']);
});

test('an address that does not exist is counted and logged', async () => {
  // RFC 6761 section 6.4.
  process.env.OWN_ADDRESS = 'https://reviews.invalid/ws';
  await checkAddress();
  expect(counted).toEqual(['Unanswered']);
  expect(console.error).toHaveBeenCalledWith(
    expect.objectContaining({ message: 'The own address does not answer' }),
  );
});

test('without an own address nothing is asked', async () => {
  process.env.OWN_ADDRESS = '';
  await checkAddress();
  expect(asked).toEqual([]);
  expect(counted).toEqual([]);
});
