import { Agent, createServer, get, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { countRoundTrips } from '../../bin/bench/round-trips.ts';
import { serve } from '../helpers/listen.ts';

const held: ServerResponse[] = [];
const url = await serve(
  createServer((request, response) => {
    if (request.url === '/held') held.push(response);
    else response.end();
  }),
);

/** Asks the server for a path, over the connections of an agent. */
function ask(path = '', agent = new Agent()) {
  return new Promise<string>((resolve, reject) => {
    get(url + path, { agent }, (response) => resolve(text(response))).on('error', reject);
  });
}

async function askThrice() {
  for (let i = 0; i < 3; i++) await ask();
}

async function tripsOf(run: () => Promise<unknown>) {
  const tally = { roundTrips: 0 };
  await countRoundTrips(tally, run);
  return tally.roundTrips;
}

test('counts requests that are made one after the other', async () => {
  expect(await tripsOf(async () => {})).toBe(0);
  expect(await tripsOf(askThrice)).toBe(3);
});

test('counts requests that are made at once as one, also if one waits for a connection', async () => {
  expect(await tripsOf(() => Promise.all([ask(), ask(), ask()]))).toBe(1);
  const one = new Agent({ keepAlive: true, maxSockets: 1 });
  expect(await tripsOf(() => Promise.all([ask('', one), ask('', one)]))).toBe(1);
  one.destroy();
});

test('does not count requests that are made while another is under way', async () => {
  const askBeside = async () => {
    const beside = ask('/held');
    await askThrice();
    while (held.length === 0) await ask();
    held.pop()?.end();
    await beside;
    await ask();
  };
  expect(await tripsOf(askBeside)).toBe(2);
});

test('counts the requests of each call alone', async () => {
  expect(await Promise.all([tripsOf(askThrice), tripsOf(ask)])).toEqual([3, 1]);
});

test('counts a request that fails, and the next', async () => {
  const failAndAsk = async () => {
    const nowhere = get('http://127.0.0.1:1/');
    await new Promise((resolve) => nowhere.once('error', resolve));
    await ask();
  };
  expect(await tripsOf(failAndAsk)).toBe(2);
});
