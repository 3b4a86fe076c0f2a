import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { chunks } from '../../shared/base/chunks.ts';
import { callerOf } from '../helpers/api.ts';
import { connectTo } from '../helpers/connect.ts';
import { answers, hurriedNode, quickFlaws } from '../helpers/flawed-answers.ts';
import { wentBack } from '../helpers/heard.ts';
import { serve } from '../helpers/listen.ts';
import { pick, randomWriters } from '../helpers/random-writes.ts';
import { admin, fresh, start } from '../helpers/service.ts';

const { SIGNING_KEYS, WEBHOOK_KEYS, WEBHOOK_SECONDS = '20' } = process.env;
const seconds = Number(WEBHOOK_SECONDS);

let dataDir = fresh('data');

async function startService() {
  // A fast machine would spend them, and then, with most reviews deleted, nothing would be edited.
  const limits = { EDITS_PER_DAY: '0', PUBLICATIONS_PER_DAY: '0' };
  const env = { SIGNING_KEYS, WEBHOOK_KEYS, NODE_OPTIONS: hurriedNode, ...limits };
  const service = await start(dataDir, { options: ['--quiet'], env });
  connectTo(dataDir);
  return service;
}

/** A message of a webhook, with the time of its connection (epoch ms). */
interface Message {
  id: string;
  at: number;
  type: string;
  /** False if the receiver failed, and so kept nothing. */
  isKept: boolean;
  data: { id: string; version: number; review: object | null; challenge?: string };
}

const messages: Message[] = [];

/** Reads what a mirror reads when it is told that the log has restarted. */
let readEverything: () => Promise<Message['data'][]> = async () => [];
let verifier: Webhook | undefined;
const faults: string[] = [];

const answered: Record<string, number> = {};
let isCalm = true;

const unused = () => Object.keys(answers).filter((name) => !answered[name]);

/** Chooses an answer at random, but each once before any twice. */
function chosen() {
  if (isCalm || Math.random() < 0.7) return '200';
  return unused()[0] ?? pick(quickFlaws);
}

async function receive(request: IncomingMessage, response: ServerResponse) {
  const at = Date.now();
  const body = await readAll(request);
  try {
    if (!verifier) throw new Error('A message before the webhook');
    const { type, data } = verifier.verify(body, request.headers as never) as Message;
    const id = `${request.headers['webhook-id']}`;
    let name = chosen();
    let everything: Message['data'][] | undefined = [];
    if (name === '200' && type === 'log.restarted') {
      // The service may end meanwhile. Then the message comes again.
      everything = await readEverything().catch(() => undefined);
      if (!everything) name = '500';
    }
    const isKept = name === '200';
    messages.push({ id, at, type, isKept, data });
    for (const each of everything ?? []) {
      messages.push({ id: '', at, type: 'read', isKept, data: each });
    }
    answered[name] = (answered[name] ?? 0) + 1;
    answers[name]?.(response, data.challenge ?? '');
  } catch (error) {
    faults.push(`${error}: ${body}`);
    response.writeHead(401).end();
  }
}

const address = await serve(createServer(receive));

/** Writes that hide, delete or restore a review, from their begin to their answer (epoch ms). */
interface Deed {
  id: string;
  begin: number;
  end: number;
}
const removals: Deed[] = [];
const restorations: Deed[] = [];

const { reviews, done, write } = randomWriters(async (deed, id, answer) => {
  const begin = Date.now();
  const hasSucceeded = await answer.then(
    () => true,
    () => false,
  );
  const ended = { id, begin, end: Date.now() };
  // The end of the service leaves open whether a write was done.
  if (deed === 'unhide') restorations.push(ended);
  else if (hasSucceeded) removals.push(ended);
});

/** Milliseconds in which a message that was read before may still be on its way. */
const onItsWay = 1_000;

/** Messages without what the receiver has read itself. */
const sent = () => messages.filter(({ type }) => type !== 'read');

/** Messages with a review that was hidden or deleted before their connection began. */
function leaks(): Message[] {
  return sent().filter(({ at, data }) => {
    const isRestoredAfter = ({ id, begin }: Deed) =>
      restorations.some((each) => each.id === id && each.end > begin && each.begin < at);
    const isHidden = removals.some(
      (each) => each.id === data.id && each.end + onItsWay < at && !isRestoredAfter(each),
    );
    return data.review && isHidden;
  });
}

/** Returns what the receiver has last kept of each review. */
function mirrored(): Map<string, Message['data']> {
  const newest = new Map<string, Message['data']>();
  for (const { type, isKept, data } of messages) {
    if (!isKept) continue;
    if (type === 'log.restarted') newest.clear();
    const isOfReview = type === 'read' || type.startsWith('review.');
    if (isOfReview && data.version >= (newest.get(data.id)?.version ?? 0)) {
      newest.set(data.id, data);
    }
  }
  return newest;
}

test(
  'a receiver has each review as it is, whatever fails on the way',
  async () => {
    let service = await startService();
    const { makeGrant, makeUser } = await import('../helpers/world.ts');
    const owner = await makeUser();
    const tokens = await Promise.all(
      Array.from({ length: 8 }, async () => {
        // With this karma, 200 votes a day.
        const user = await makeUser({ karma: 5_000 });
        return (await makeGrant(user, ['review', 'vote', 'user'])).access_token;
      }),
    );
    readEverything = async () => {
      const call = callerOf(service.url);
      const all: Message['data'][] = [];
      for (const some of chunks(reviews, 50)) {
        const answers = await Promise.all(some.map(({ id }) => call('GET', `/review/${id}`)));
        for (const { status, body } of answers) {
          // Every later message is newer.
          if (status === 200) all.push({ id: body.review.id, version: 0, review: body.review });
        }
      }
      return all;
    };
    const webhook = await addWebhook(owner.id, address);
    async function read() {
      const { getOwnWebhook } = await import(
        '../../shared/features/webhooks/webhook-repository.ts'
      );
      return getOwnWebhook(webhook.client_id, webhook.id, owner.id);
    }

    /** The owner's remedy for whatever has stopped the webhook, instead of a wait of minutes. */
    async function nudge(): Promise<void> {
      const { continueWebhook, pauseWebhook } = await import(
        '../../shared/features/webhooks/webhook-actions.ts'
      );
      const { state, failures } = await read();
      if (state === 'on' && failures > 0) await pauseWebhook(webhook);
      await continueWebhook(webhook);
    }

    // Earlier changes are not sent.
    while ((await read()).state !== 'on') await sleep(100);
    isCalm = false;
    let isOver = false;
    async function watch(): Promise<void> {
      while (!isOver) {
        // The database ends with the service.
        await nudge().catch(() => {});
        await sleep(200);
      }
    }
    const watching = watch();

    const rounds = 4;
    for (let round = 0; round < rounds; round++) {
      const writing = write(service.url, tokens, seconds / rounds, round === rounds - 1);
      await sleep(Math.random() * 700 * (seconds / rounds));
      if (round < rounds - 1) await service.end('SIGKILL');
      await writing;
      if (round === 1) {
        service = await startService();
        const folder = fresh('backup');
        await admin(dataDir, ['backup', folder]);
        await service.end('SIGKILL');
        dataDir = fresh('data');
        await admin(dataDir, ['restore', folder]);
      }
      if (round < rounds - 1) service = await startService();
      await admin(dataDir, ['aggregates', 'rebuild']);
    }

    const patience = Date.now() + 90_000;
    while (unused().length > 0 && Date.now() < patience) await write(service.url, tokens, 1);
    expect(unused()).toEqual([]);

    isCalm = true;
    // Changes of a review that wait come as one message, so a type may have been left out.
    const untold = () =>
      ['published', 'edited', 'removed'].filter(
        (type) => !messages.some((message) => message.type === `review.${type}`),
      );
    for (const end = Date.now() + 60_000; untold().length > 0 && Date.now() < end; ) {
      await write(service.url, tokens, 0.2);
      await sleep(6_000);
    }
    expect(untold()).toEqual([]);
    const call = callerOf(service.url);
    const expected = new Map<string, object | null>();
    for (const { id } of reviews) {
      const { status, body } = await call('GET', `/review/${id}`);
      expected.set(id, status === 200 ? body.review : null);
    }
    const differences = () => {
      const newest = mirrored();
      return reviews.flatMap(({ id }) => {
        const mine = contentOf(newest.get(id)?.review ?? null);
        const theirs = contentOf(expected.get(id) ?? null);
        return JSON.stringify(mine) === JSON.stringify(theirs) ? [] : [{ id, mine, theirs }];
      });
    };
    const deadline = Date.now() + 60_000;
    while (differences().length > 0 && Date.now() < deadline) await sleep(300);
    isOver = true;
    await watching;
    expect(differences()).toEqual([]);
    expect(faults).toEqual([]);
    expect(wentBack([{ messages: sent() }])).toEqual([]);
    expect(leaks()).toEqual([]);

    expect(Object.keys(done)).toEqual(expect.arrayContaining(['hide', 'delete', 'vote', 'edit']));
    // Votes are mostly folded into weightier changes.
    const types = new Set(messages.map(({ type }) => type));
    expect(types).toContain('log.restarted');
    expect(removals.length).toBeGreaterThan(0);
    const summary = { messages: messages.length, reviews: reviews.length, answered, done };
    if (process.env.WEBHOOK_SECONDS) process.stderr.write(`${JSON.stringify(summary)}\n`);
  },
  1000 * (seconds + 260),
);

/** The parts of a review that change only with the review. */
function contentOf(review: object | null): object | null {
  if (!review) return null;
  const { id, text, rating, votes, edits } = review as Record<string, unknown>;
  return { id, text, rating, votes, edits };
}

/** Makes an application with a webhook for all types, whose first test is due. */
async function addWebhook(userId: string, url: string) {
  const { insertApplication } = await import('../../shared/core/oauth/application-repository.ts');
  const { insertWebhook } = await import('../../shared/features/webhooks/webhook-repository.ts');
  const { webhookSecret } = await import('../../shared/features/webhooks/signature.ts');
  const { keysOf } = await import('../../shared/base/secrets.ts');
  const { client_id } = await insertApplication(userId, {
    name: 'Mirror',
    desc: '',
    website: 'https://client.example/',
    redirect_uri: 'https://client.example/callback',
  });
  const webhook = await insertWebhook(client_id, userId, {
    address: `${url}/hooks`,
    types: ['review.published', 'review.edited', 'review.voted', 'review.removed'],
  });
  const [key] = await keysOf('WEBHOOK_KEYS');
  verifier = new Webhook(webhookSecret(webhook.secret_id, key));
  return webhook;
}
