import { randomUUID } from 'node:crypto';
import { batchWrite } from '../../shared/base/table/batch.ts';
import type { Item, Key } from '../../shared/base/table/item.ts';
import {
  applicationKey,
  caseKey,
  claimKey,
  grantKey,
  reportKey,
  voteKey,
  webhookSlots,
} from '../../shared/core/keys.ts';
import {
  insertApplication,
  mostApplications,
} from '../../shared/core/oauth/application-repository.ts';
import { insertGrant, mostConnections } from '../../shared/core/oauth/grant-repository.ts';
import {
  createPersonalToken,
  mostPersonalTokens,
} from '../../shared/core/oauth/personal-token-repository.ts';
import type { WholeReview } from '../../shared/core/review/review.ts';
import { reviewItem } from '../../shared/core/review/review-writes.ts';
import { revisionItem, revisionOf } from '../../shared/core/review/revision.ts';
import { takeFile } from '../../shared/features/bring/take-file.ts';
import { messageTypes, type Webhook } from '../../shared/features/webhooks/webhook.ts';
import { insertWebhook } from '../../shared/features/webhooks/webhook-repository.ts';
import { readItem, scanTable } from './items.ts';
import { makeClient } from './oauth-client.ts';
import './webhooks.ts';
import { makeModerator, makeUsers, type Person, reviewBy } from './world.ts';

// The widest account that the rules allow: the most of whatever is limited, and many of everything
// else, each with the longest texts. The service makes one thing of a kind, a copy makes others.

/** 5,000 code points that take six bytes each in JSON, and one byte in the table. */
export const controls = `x${'\u0001'.repeat(4_999)}`;
/** 5,000 code points of four bytes. */
export const emoji = '🎷'.repeat(5_000);

/** Number of each thing that no rule limits, the texts of its reviews, and what others review. */
interface Width {
  many: number;
  ownText: string;
  text: string;
  /** The entity of all reviews of others. Each has its own if it is absent. */
  entity_id?: string;
}

export interface WidestAccount {
  /** A moderator too. */
  member: Person;
  /** Reviews of others, on which the member voted. The first has a report of everybody. */
  others: WholeReview[];
  /** Own reviews. The first has many revisions. */
  own: WholeReview[];
  client_id: string;
  webhook_id: string;
  subject: Person;
}

const widest: Width = { many: 300, ownText: emoji, text: controls };

/** Fills the table with the account, and what it sees. */
export async function makeWidestAccount(width = widest): Promise<WidestAccount> {
  const { many, ownText, text, entity_id } = width;
  const member = await makeModerator('M'.repeat(64));
  const people: Person[] = [];
  while (people.length < many)
    people.push(...(await makeUsers(Math.min(50, many - people.length))));
  const [friend] = people as [Person, ...Person[]];
  const others = people.map(({ id }, i) => ({
    ...reviewBy(id, { text, ...(entity_id && { entity_id }) }),
    ...timesOf(i / many),
  }));
  const own = Array.from({ length: many }, (_, i) => {
    const review = reviewBy(member.id, { text: ownText });
    const times = timesOf(i / many);
    const published_on = i % 3 === 1 ? null : times.published_on;
    return { ...review, ...times, published_on, is_hidden: i % 3 === 2 };
  });
  const [long] = own as [WholeReview];
  const edits = many + 10;
  Object.assign(long, { edits, version: edits + 1 });
  await put([
    ...[...others, ...own].map(reviewItem),
    ...[...others, ...own].map((each) => ({
      ...claimKey(each.user_id, each.entity_id),
      review_id: each.id,
    })),
    ...Array.from({ length: edits }, (_, i) => revisionItem({ ...revisionOf(long), id: i + 1 })),
  ]);
  await makeVotesAndCases(member, people, others);
  await makeDecisions(member, friend, many);
  const { client_id, webhook_id } = await makeApplications(member, people);
  await takeFile(member.id, {
    site: 'letterboxd',
    rows: own.map((_, i) => ({ line: i + 2, title: `Blue ${i}`, rating: 4.5, text: ownText })),
    empty: 0,
    entity_type: long.entity_type,
  });
  return { member, others, own, client_id, webhook_id, subject: friend };
}

/** Times of a review, spread over a month. What trees cost depends on them. */
function timesOf(part: number) {
  const time = new Date(Date.UTC(2026, 0, 1) + part * 30 * 86_400_000).toISOString();
  return { created: time, last_updated: time, published_on: time };
}

const put = (items: readonly object[]) => batchWrite(items.map((item) => ({ put: item })));

async function made(key: Key): Promise<Item> {
  const item = await readItem(key);
  if (!item) throw new Error(`${key.pk} ${key.sk} was not made`);
  return item;
}

/** A copy of an item in which other ids stand for some, in keys and attributes. */
function like(item: Item, ids: readonly (readonly [from: string, to: string])[]): Item {
  const renamed = (text: string) => ids.reduce((all, [from, to]) => all.replaceAll(from, to), text);
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      typeof value === 'string' ? renamed(value) : value,
    ]),
  ) as Item;
}

async function makeVotesAndCases(member: Person, people: Person[], others: WholeReview[]) {
  const [first, ...rest] = others as [WholeReview, ...WholeReview[]];
  const [, reporter, ...more] = people as [Person, Person, ...Person[]];
  await member.votes(first.id);
  await reporter.reports(first.id, { reason: 'spam' });
  const [vote, report, open] = await Promise.all([
    made(voteKey(first.id, member.id)),
    made(reportKey(first.id, reporter.id)),
    made(caseKey(first.id)),
  ]);
  await put([
    ...rest.flatMap(({ id, user_id }) =>
      [vote, report, open].map((item) =>
        like(item, [
          [first.id, id],
          [first.user_id, user_id],
        ]),
      ),
    ),
    ...more.map(({ id }) => like(report, [[reporter.id, id]])),
  ]);
}

/** Decisions on others and on the member, with the longest notes. */
async function makeDecisions(member: Person, friend: Person, many: number) {
  const colleague = await makeModerator('Bea');
  const why = { reason: 'abuse', note: '🎷'.repeat(1_000) } as const;
  await colleague.decides(await member.publishes({ text: controls }), 'hide', why);
  await member.decides(await friend.publishes({ text: controls }), 'hide', why);
  const decisions = (await scanTable()).filter(({ sk }) => sk === 'DECISION');
  await put(
    decisions.flatMap((each) => {
      const id = each.pk.slice('DECISION#'.length);
      return Array.from({ length: many }, () => like(each, [[id, randomUUID()]]));
    }),
  );
}

/** Own applications with their webhooks, tokens, and connections with those of others. */
async function makeApplications(member: Person, people: Person[]) {
  const [friend, ...owners] = people as [Person, ...Person[]];
  const registration = {
    name: '🎷'.repeat(64),
    desc: '🎷'.repeat(500),
    website: 'https://client.example/',
    redirect_uri: 'https://client.example/callback',
  };
  const address = `http://127.0.0.1:9/${'h'.repeat(1_900)}`;
  const webhooks: Webhook[] = [];
  for (let i = 0; i < mostApplications; i++) {
    const { client_id } = await insertApplication(member.id, registration);
    for (const slot of webhookSlots) {
      const form = { address: `${address}${slot}`, types: [...messageTypes] };
      webhooks.push(await insertWebhook(client_id, member.id, form));
    }
  }
  const [webhook] = webhooks;
  if (!webhook) throw new Error('there are no applications');
  for (let i = 0; i < mostPersonalTokens; i++) {
    const name = '🎷'.repeat(64);
    await createPersonalToken({ user_id: member.id, name, scopes: ['user'], days: 365 });
  }
  const { client_id } = await makeClient(friend);
  const grant = await insertGrant({ user_id: member.id, client_id, scopes: ['user'] });
  const [application, connection] = await Promise.all([
    made(applicationKey(client_id)),
    made(grantKey(member.id, client_id, grant.grant_id)),
  ]);
  await put(
    owners.slice(0, mostConnections - 1).flatMap((owner) => {
      const id = randomUUID().replaceAll('-', '');
      // An owner who does not exist would be made by a recount, as a user without an id.
      return [application, connection].map((item) =>
        like(item, [
          [client_id, id],
          [friend.id, owner.id],
        ]),
      );
    }),
  );
  return { client_id: webhook.client_id, webhook_id: webhook.id };
}
