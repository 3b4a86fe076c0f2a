import { randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { handler as createReview } from '../../functions/create-review.ts';
import { handler as deleteReview } from '../../functions/delete-review.ts';
import { handler as putVote } from '../../functions/put-vote.ts';
import { handler as reportReview } from '../../functions/report-review.ts';
import { handler as updateReview } from '../../functions/update-review.ts';
import { leafCapacity } from '../../shared/list/rank-tree.ts';
import { setHidden } from '../../shared/moderation/decision-repository.ts';
import { insertApplication } from '../../shared/oauth/application-repository.ts';
import type { Grant } from '../../shared/oauth/grant.ts';
import { tokenResponse } from '../../shared/oauth/grant.ts';
import { insertGrant } from '../../shared/oauth/grant-repository.ts';
import { newReview, type Review } from '../../shared/review/review.ts';
import { reviewItem } from '../../shared/review/review-writes.ts';
import { batchWrite } from '../../shared/table/batch.ts';
import { table, tableName } from '../../shared/table/client.ts';
import { entityKey, userKey } from '../../shared/table/keys.ts';
import { setModerator, userItem } from '../../shared/user/user-repository.ts';
import { invoke } from './invoke.ts';
import { setAttributes } from './items.ts';

/** Someone who can call the API. */
export interface TestUser {
  id: string;
  display_name: string;
  /** ISO 8601. */
  created: string;
  caller: { user_id: string; client_id: string; scope: string };
}

/** 52 characters. */
export const text = 'A record that gets better with every single listen.\n';

/**
 * Makes an account; without karma it has ten votes a day. `karma` without votes behind it is a
 * wrong count.
 */
export async function makeUser({ display_name = 'Ann', karma = 0 } = {}): Promise<TestUser> {
  const id = randomUUID();
  const created = new Date().toISOString();
  const user = { id, display_name, created, karma };
  await table.send(new PutCommand({ TableName: tableName(), Item: userItem(user) }));
  const caller = { user_id: id, client_id: '0'.repeat(32), scope: 'review vote user' };
  return { id, display_name, created, caller };
}

/** Makes a user who is a moderator. */
export async function makeModerator(display_name: string): Promise<TestUser> {
  const user = await makeUser({ display_name });
  await setModerator(user.id, true);
  return user;
}

/** Several of them. */
export function makeUsers(count: number): Promise<TestUser[]> {
  return Promise.all(Array.from({ length: count }, () => makeUser()));
}

/** The body of `POST /review/`, of a new entity. */
export function reviewBody(content: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    entity_id: randomUUID(),
    entity_type: 'release_group',
    text,
    rating: 4,
    license_choice: 'CC BY-SA 3.0',
    ...content,
  };
}

/** Publishes a review, or saves a draft with `is_draft`, and gives its id. */
export async function makeReview(
  { caller }: TestUser,
  content: Record<string, unknown> = {},
): Promise<string> {
  const { status, body } = await invoke(createReview, { caller, body: reviewBody(content) });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.id;
}

/** Returns a public review of a new entity. Writes nothing. */
export function reviewBy(
  user_id: string,
  content: Partial<Parameters<typeof newReview>[1]> = {},
): Review {
  const about = { entity_id: randomUUID(), entity_type: 'work', language: 'en' } as const;
  const rest = { text, rating: 4, license_choice: 'CC0 1.0', is_draft: false } as const;
  return newReview(user_id, { ...about, ...rest, ...content });
}

/** Makes so many reviews of one entity by one author that both lists need rank trees. */
export async function makeLongLists(
  { id }: TestUser,
  change: (review: Review) => Partial<Review> = () => ({}),
): Promise<string> {
  const entity_id = randomUUID();
  const reviews = Array.from({ length: leafCapacity + 1 }, () => {
    const review = reviewBy(id, { entity_id });
    return { ...review, ...change(review) };
  });
  const counts = new Map<string, number>();
  for (const { rating } of reviews) {
    counts.set(`work|en|both${rating}`, 1 + (counts.get(`work|en|both${rating}`) ?? 0));
  }
  for (const key of [entityKey(entity_id), userKey(id)]) {
    await setAttributes(key, Object.fromEntries(counts));
  }
  await batchWrite(reviews.map((review) => ({ put: reviewItem(review) })));
  return entity_id;
}

/** Publishes a review, hides it, and gives its id. */
export async function makeHidden(author: TestUser, content?: Record<string, unknown>) {
  const id = await makeReview(author, content);
  await setHidden(id, true);
  return id;
}

/** Sends changes of a review. */
export function edit({ caller }: TestUser, review_id: string, body: object) {
  return invoke(updateReview, { caller, path: { review_id }, body });
}

/** Reports a review. */
export function report({ caller }: TestUser, review_id: string, body?: object) {
  return invoke(reportReview, { method: 'POST', caller, path: { review_id }, body });
}

/** Deletes a review. */
export function remove({ caller }: TestUser, review_id: string) {
  return invoke(deleteReview, { method: 'DELETE', caller, path: { review_id } });
}

/** Casts a vote. */
export async function vote({ caller }: TestUser, review_id: string, up = true): Promise<void> {
  const answer = await invoke(putVote, { caller, path: { review_id }, body: { vote: up } });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}

/** An application of `owner`'s that `user` lets act, and the tokens of that. */
export async function makeGrant(
  user: TestUser,
  scopes: Grant['scopes'],
  { owner = user, lifetime }: { owner?: TestUser; lifetime?: number } = {},
) {
  const { client_id } = await insertApplication(owner.id, {
    name: 'Demo',
    desc: 'Demo',
    website: 'https://client.example/',
    redirect_uri: 'https://client.example/callback',
  });
  const grant = await insertGrant({ user_id: user.id, client_id, scopes });
  return { grant, ...(await tokenResponse(grant, lifetime)) };
}
