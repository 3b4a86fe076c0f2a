import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { randomNumbers } from '../../bin/random.ts';
import { callerOf } from '../helpers/api.ts';
import { connectTo } from '../helpers/connect.ts';
import { answers, hurriedNode, quickFlaws } from '../helpers/flawed-answers.ts';
import {
  ambiguous,
  type Change,
  type Choice,
  hasChosen,
  leaks,
  type Message,
  type Receiver,
  reviewTypes,
  type Type,
  untold,
  wentBack,
} from '../helpers/heard.ts';
import { serve } from '../helpers/listen.ts';
import { pick } from '../helpers/random-writes.ts';
import { admin, fresh, type Service, start } from '../helpers/service.ts';

// Receivers with every choice of types. Each must hear at least once of each change that it chose,
// whatever fails on the way.

const { HISTORY_SEED = `${Date.now() % 1_000_000}`, HISTORY_SECONDS = '16' } = process.env;
process.stderr.write(`HISTORY_SEED=${HISTORY_SEED}\n`);
Math.random = randomNumbers(Number(HISTORY_SEED));
/** In seconds: the length of each of the four parts. */
const length = Number(HISTORY_SECONDS) / 4;

const { SIGNING_KEYS, WEBHOOK_KEYS } = process.env;
process.env.WEBHOOK_ALLOW = '127.0.0.0/8';

let dataDir = fresh('data');
let service: Service;

async function startService(): Promise<void> {
  const env = { SIGNING_KEYS, WEBHOOK_KEYS, NODE_OPTIONS: hurriedNode };
  const options = ['--quiet', '--publications-per-day', '0'];
  service = await start(dataDir, { options, env: { ...env, EDITS_PER_DAY: '0' } });
  connectTo(dataDir);
}

/** A receiver with the webhook that sends to it. */
interface Listening extends Receiver {
  webhook: { client_id: string; id: string };
  verifier: Webhook;
}

let isOver = false;
afterAll(() => {
  isOver = true;
});
const receivers: Listening[] = [];
/** Changes that make a review public, also those without an answer. */
const returns: Pick<Change, 'id' | 'begin' | 'end'>[] = [];
const faults: string[] = [];
let isCalm = true;

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const arrived = Date.now();
  const body = await readAll(request);
  try {
    const receiver = receivers[Number(request.url?.slice(1))];
    if (!receiver) throw new Error('A message before the webhook');
    const message = receiver.verifier.verify(body, request.headers as never) as Message & {
      timestamp: string;
    };
    const { type, data, timestamp } = message;
    const isFlawed = !isCalm && Math.random() < 0.3;
    const flaw = Math.random() < 0.02 ? pick(['hang', 'drip']) : pick(quickFlaws);
    const id = `${request.headers['webhook-id']}`;
    const at = Date.parse(timestamp);
    receiver.messages.push({ id, arrived, at, type, isKept: !isFlawed, data });
    answers[isFlawed ? flaw : '200']?.(response, data.challenge ?? '');
  } catch (error) {
    faults.push(`${error}: ${body}`);
    response.writeHead(401).end();
  }
}

const address = await serve(createServer(receive));

/** A review that its author's writer alone changes, so that its state is known. */
interface Kept {
  id: string;
  entity_id: string;
  author_id: string;
  isPublic: boolean;
}

interface Writer {
  id: string;
  token: string;
  reviews: Kept[];
  hasCommon: boolean;
  /** Own votes by review. Without an answer, nobody knows a vote. */
  votes: Map<string, boolean | 'unknown'>;
}

const common = randomUUID();

/** Changes at random for that long. Returns what the service has confirmed. */
async function change(
  writers: readonly Writer[],
  milliseconds: number,
  isDown: () => boolean,
): Promise<Change[]> {
  const { reviewBody } = await import('../helpers/world.ts');
  const { setHidden } = await import('../../shared/core/report/decision-repository.ts');
  const until = Date.now() + milliseconds;
  const changes: Change[] = [];

  /** Notes a change when it is done. Whether it is done without an answer, nobody knows. */
  async function note(type: Type, of: Omit<Kept, 'isPublic'>, deed: () => Promise<unknown>) {
    const done = { ...of, begin: Date.now(), end: Number.POSITIVE_INFINITY };
    if (type === 'review.published') returns.push(done);
    await deed();
    done.end = Date.now();
    changes.push({ type, ...done });
  }
  const call = async ({ token }: Writer, method: string, path: string, body?: unknown) => {
    const answer = await callerOf(service.url, token)(method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status}`);
    return answer.body;
  };

  async function publish(writer: Writer) {
    const entity_id = writer.hasCommon ? randomUUID() : common;
    writer.hasCommon = true;
    const kept: Kept = { id: '', entity_id, author_id: writer.id, isPublic: true };
    const begin = Date.now();
    const { id } = await call(writer, 'POST', '/review/', reviewBody({ entity_id }));
    Object.assign(kept, { id });
    changes.push({ type: 'review.published', ...kept, begin, end: Date.now() });
    writer.reviews.push(kept);
  }

  /** Changes an own review. If no answer comes, nobody knows its state, and it is left alone. */
  async function changeOwn(writer: Writer) {
    const own = pick(writer.reviews);
    writer.reviews = writer.reviews.filter((each) => each !== own);
    const { isPublic, ...of } = own;
    const deed = pick(['edit', 'edit', 'edit', 'hide', 'hide', 'delete']);
    if (deed === 'delete') {
      const remove = () => call(writer, 'DELETE', `/review/${own.id}`);
      await (isPublic ? note('review.removed', of, remove) : remove());
      return;
    }
    if (deed === 'hide') {
      const type = isPublic ? 'review.removed' : 'review.published';
      await note(type, of, () => setHidden(own.id, isPublic));
      own.isPublic = !isPublic;
    } else if (isPublic) {
      const { text } = reviewBody();
      const body = { text: `${text} ${Math.random()}` };
      await note('review.edited', of, () => call(writer, 'POST', `/review/${own.id}`, body));
    }
    writer.reviews.push(own);
  }

  /** Casts a vote that changes something: of one that is cast again, nobody hears. */
  async function vote(writer: Writer) {
    const { isPublic, ...of } = pick(pick(writers.filter((each) => each !== writer)).reviews);
    const before = writer.votes.get(of.id);
    if (before === 'unknown') return;
    const path = `/review/${of.id}/vote`;
    writer.votes.set(of.id, 'unknown');
    await note('review.voted', of, () => call(writer, 'PUT', path, { vote: !before }));
    writer.votes.set(of.id, !before);
  }

  const isOver = () => Date.now() >= until || isDown();
  await Promise.all(
    writers.map(async (writer) => {
      while (!isOver()) {
        const deed = writer.reviews.length < 3 ? publish : pick([publish, changeOwn, vote, vote]);
        // A review may be gone, and a killed service does not answer.
        await deed(writer).catch(() => sleep(10));
        await sleep(Math.random() * 50);
      }
    }),
  );
  return changes;
}

/** Ends accesses and accounts of people who use the receivers' applications, and names things. */
async function changeOthers(): Promise<Change[]> {
  const { makeUser } = await import('../helpers/world.ts');
  const { deleteGrants, insertGrant } = await import('../../shared/core/oauth/grant-repository.ts');
  const { nameAsOperator } = await import('../../shared/features/names/correction.ts');
  const changes: Change[] = [];
  const note = async (what: Pick<Change, 'type' | 'id'> & Partial<Change>, deed: () => unknown) => {
    const begin = Date.now();
    await deed();
    changes.push({ ...what, begin, end: Date.now() });
  };
  for (const { types, webhook } of receivers) {
    const { client_id } = webhook;
    const person = await makeUser();
    const { id } = person;
    if (types.includes('access.revoked')) {
      await insertGrant({ user_id: id, client_id, scopes: ['user'] });
      const revoke = () => deleteGrants(id, client_id);
      await note({ type: 'access.revoked', id, client_id }, revoke);
    }
    if (types.includes('user.deleted')) {
      await insertGrant({ user_id: id, client_id, scopes: ['user'] });
      await note({ type: 'user.deleted', id, client_id }, () => person.leaves());
    }
  }
  for (const entity_id of [common, randomUUID()]) {
    const name = { name: `Blue ${Math.random()}`, about: undefined, url: undefined };
    const entity = { entity_type: 'release_group', entity_id } as const;
    await note({ type: 'entity.edited', id: entity_id, entity_id }, () =>
      nameAsOperator(entity, name, ''),
    );
  }
  return changes;
}

/** Makes an application with a webhook, whose first test is due. */
async function addReceiver(choice: Choice): Promise<void> {
  const { makeUser } = await import('../helpers/world.ts');
  const { insertApplication } = await import('../../shared/core/oauth/application-repository.ts');
  const { insertWebhook } = await import('../../shared/features/webhooks/webhook-repository.ts');
  const { webhookSecret } = await import('../../shared/features/webhooks/signature.ts');
  const { keysOf } = await import('../../shared/base/secrets.ts');
  const owner = await makeUser();
  const { client_id } = await insertApplication(owner.id, {
    name: 'Mirror',
    desc: '',
    website: 'https://client.example/',
    redirect_uri: 'https://client.example/callback',
  });
  const url = `${address}/${receivers.length}`;
  const webhook = await insertWebhook(client_id, owner.id, { address: url, ...choice });
  const [key] = await keysOf('WEBHOOK_KEYS');
  const verifier = new Webhook(webhookSecret(webhook.secret_id, key));
  receivers.push({ ...choice, webhook, verifier, messages: [] });
}

/** Pauses webhooks at random as their owners do, and continues whatever has stopped. */
async function actAsOwners(): Promise<void> {
  const { listWebhooks } = await import('../../shared/features/webhooks/webhook-repository.ts');
  const { continueWebhook, pauseWebhook } = await import(
    '../../shared/features/webhooks/webhook-actions.ts'
  );
  for (const webhook of await listWebhooks()) {
    const isPausing = !isCalm && Math.random() < 0.02;
    if (webhook.state === 'on' && (webhook.failures > 0 || isPausing)) await pauseWebhook(webhook);
    if (!isPausing) await continueWebhook(webhook);
  }
}

/** Waits, with receivers that do not fail, until everything is told. */
async function settle(changes: readonly Change[]): Promise<void> {
  isCalm = true;
  // The lease of a webhook outlives a killed process by 72 seconds.
  const deadline = Date.now() + 150_000;
  while (untold(receivers, changes).length > 0 && Date.now() < deadline) await sleep(300);
  expect(untold(receivers, changes)).toEqual([]);
  isCalm = false;
}

test(
  'every receiver hears of each change that it chose',
  async () => {
    await startService();
    const { makeGrant, makeUser } = await import('../helpers/world.ts');
    const { listWebhooks } = await import('../../shared/features/webhooks/webhook-repository.ts');
    const writers = await Promise.all(
      Array.from({ length: 6 }, async (): Promise<Writer> => {
        // With this karma, 200 votes a day.
        const user = await makeUser({ karma: 5_000 });
        const { access_token } = await makeGrant(user, ['review', 'vote', 'user']);
        return {
          id: user.id,
          token: access_token,
          reviews: [],
          hasCommon: false,
          votes: new Map(),
        };
      }),
    );
    const subsets = Array.from({ length: 15 }, (_, i) =>
      reviewTypes.filter((_, bit) => (i + 1) & (1 << bit)),
    );
    const choices: Choice[] = [
      ...subsets.map((types) => ({ types })),
      { types: [...reviewTypes], entity_id: common },
      { types: ['review.edited', 'entity.edited'], entity_id: common },
      { types: ['review.voted', 'review.removed'], author_id: `${writers[0]?.id}` },
      { types: ['access.revoked'] },
      { types: ['user.deleted', 'review.published'] },
      { types: ['access.revoked', 'user.deleted', 'entity.edited', ...reviewTypes] },
    ];
    for (const choice of choices) await addReceiver(choice);
    // Earlier changes are not sent.
    while ((await listWebhooks()).some(({ state }) => state !== 'on')) await sleep(100);

    const owners = (async () => {
      // The database ends with the service.
      while (!isOver)
        await actAsOwners()
          .catch(() => {})
          .then(() => sleep(300));
    })();

    /** A part of the history, which ends with a kill unless the service shall live on. */
    async function part(isKilled: boolean): Promise<Change[]> {
      let isDown = false;
      const changing = change(writers, length * 1_000, () => isDown);
      const others = await changeOthers();
      await sleep(Math.random() * length * 500);
      if (isKilled) {
        isDown = true;
        await service.end('SIGKILL');
      }
      return [...(await changing), ...others];
    }

    isCalm = false;
    const before = await part(true);
    await startService();
    before.push(...(await part(false)));
    await settle(before);

    const backup = fresh('backup');
    await admin(dataDir, ['backup', backup]);
    const kept = writers.map(({ reviews, votes }) => {
      return { reviews: structuredClone(reviews), votes: new Map(votes) };
    });
    const lost = await part(true);
    dataDir = fresh('data');
    await admin(dataDir, ['restore', backup]);
    for (const [i, writer] of writers.entries()) Object.assign(writer, kept[i]);
    const restored = Date.now();
    await startService();
    const after = await part(true);
    await startService();
    after.push(...(await part(false)));
    await settle(after);

    isOver = true;
    await owners;
    const deaf = receivers.filter(
      ({ messages }) =>
        !messages.some(({ type, isKept, arrived }) => {
          return type === 'log.restarted' && isKept && arrived > restored;
        }),
    );
    expect(deaf.map(({ types }) => types)).toEqual([]);
    expect(faults).toEqual([]);
    expect(wentBack(receivers)).toEqual([]);
    expect(ambiguous(receivers)).toEqual([]);
    const all = receivers.flatMap(({ messages }) => messages);
    const early = all.filter(({ arrived }) => arrived < restored);
    const late = all.filter(({ arrived }) => arrived >= restored);
    expect(leaks(early, [...before, ...lost], returns)).toEqual([]);
    expect(leaks(late, [...before, ...after], returns)).toEqual([]);
    const changes = [...before, ...after];
    const bored = receivers.filter((each) => !changes.some((one) => hasChosen(each, one)));
    expect(bored.map(({ types }) => types)).toEqual([]);
    const count = receivers.reduce((sum, { messages }) => sum + messages.length, 0);
    process.stderr.write(`${changes.length} changes, ${count} messages\n`);
  },
  1000 * (Number(HISTORY_SECONDS) + 240),
);
