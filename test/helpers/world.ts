/** People and what they do, through the real handlers; and data that nobody has to act for. */
import { randomUUID } from 'node:crypto';
import { handler as createReview } from '../../functions/api/create-review.ts';
import { handler as deleteMe } from '../../functions/api/delete-me.ts';
import { handler as deleteReview } from '../../functions/api/delete-review.ts';
import { handler as deleteVote } from '../../functions/api/delete-vote.ts';
import { handler as exportMe } from '../../functions/api/export-me.ts';
import { handler as getEntity } from '../../functions/api/get-entity.ts';
import { handler as getReview } from '../../functions/api/get-review.ts';
import { handler as getRevision } from '../../functions/api/get-revision.ts';
import { handler as getUser } from '../../functions/api/get-user.ts';
import { handler as getVote } from '../../functions/api/get-vote.ts';
import { handler as listMyReviews } from '../../functions/api/list-my-reviews.ts';
import { handler as listReviews } from '../../functions/api/list-reviews.ts';
import { handler as listRevisions } from '../../functions/api/list-revisions.ts';
import { handler as putVote } from '../../functions/api/put-vote.ts';
import { handler as reportReview } from '../../functions/api/report-review.ts';
import { handler as updateMe } from '../../functions/api/update-me.ts';
import { handler as updateReview } from '../../functions/api/update-review.ts';
import { leafCapacity } from '../../shared/base/list/rank-tree.ts';
import { countsKey, entityKey, userKey } from '../../shared/core/keys.ts';
import { insertApplication } from '../../shared/core/oauth/application-repository.ts';
import type { Grant } from '../../shared/core/oauth/grant.ts';
import { tokenResponse } from '../../shared/core/oauth/grant.ts';
import { insertGrant } from '../../shared/core/oauth/grant-repository.ts';
import { decideReview, setHidden } from '../../shared/core/report/decision-repository.ts';
import { setApart } from '../../shared/core/review/long-text.ts';
import { newReview, type Review, type WholeReview } from '../../shared/core/review/review.ts';
import { reviewItem } from '../../shared/core/review/review-writes.ts';
import { nothingWritten } from '../../shared/core/review/written.ts';
import { setModerator } from '../../shared/core/user/name-repository.ts';
import { userItem } from '../../shared/core/user/user-repository.ts';
import { findOrCreateUser } from '../../shared/features/account/identity-repository.ts';
import { passMillisecond } from './clock.ts';
import { invoke, type TestResponse } from './invoke.ts';
import { setAttributes, storeItems } from './items.ts';

type Headers = Record<string, string | readonly string[]>;
type Query = Record<string, string | readonly string[]>;

/** 52 characters. */
export const text = 'A record that gets better with every single listen.\n';

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

/** Throws unless the answer is 200. */
async function succeed(answer: Promise<TestResponse>): Promise<TestResponse> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return answer;
}

/**
 * Someone who can call the API. Deeds return the answer, which may be a refusal. `publishes`,
 * `votes` and `leaves` throw when they are refused; `triesToPublish`, `triesToVote` and
 * `triesToLeave` do not.
 */
export class Person {
  readonly id: string;
  readonly display_name: string;
  /** ISO 8601. */
  readonly created: string;
  readonly caller: { user_id: string; client_id: string; scope: string };

  constructor(id: string, display_name = 'Ann', created = new Date().toISOString()) {
    this.id = id;
    this.display_name = display_name;
    this.created = created;
    this.caller = { user_id: id, client_id: '0'.repeat(32), scope: 'review vote user' };
  }

  /** Publishes a review, or saves a draft with `is_draft`. Returns its id. */
  async publishes(content?: Record<string, unknown>): Promise<string> {
    const { body } = await succeed(this.triesToPublish(reviewBody(content)));
    passMillisecond();
    return body.id;
  }

  /** Publishes a review, and has it hidden. Returns its id. */
  async publishesHidden(content?: Record<string, unknown>): Promise<string> {
    const id = await this.publishes(content);
    await setHidden(id, true);
    return id;
  }

  triesToPublish(body: unknown, headers?: Headers) {
    return invoke(createReview, { method: 'POST', caller: this.caller, body, headers });
  }

  edits(review_id: string, body: unknown, headers?: Headers) {
    return this.#acts(updateReview, 'POST', review_id, body, headers);
  }

  deletes(review_id: string) {
    return this.#acts(deleteReview, 'DELETE', review_id);
  }

  votes(review_id: string, way: 'up' | 'down' = 'up') {
    return succeed(this.triesToVote(review_id, { vote: way === 'up' }));
  }

  triesToVote(review_id: string, body: unknown, headers?: Headers) {
    return this.#acts(putVote, 'PUT', review_id, body, headers);
  }

  withdrawsVote(review_id: string) {
    return this.#acts(deleteVote, 'DELETE', review_id);
  }

  readsVote(review_id: string) {
    return this.#acts(getVote, 'GET', review_id);
  }

  reports(review_id: string, body?: unknown, headers?: Headers) {
    return this.#acts(reportReview, 'POST', review_id, body, headers);
  }

  listsOwnReviews(query?: Query) {
    return invoke(listMyReviews, { caller: this.caller, query });
  }

  /** A review as its author reads it. */
  async readsOwn(id: string) {
    const { body } = await this.listsOwnReviews();
    return body.reviews.find((review: { id: string }) => review.id === id);
  }

  exports(query?: Query) {
    return invoke(exportMe, { caller: this.caller, query });
  }

  updatesProfile(body: unknown) {
    return invoke(updateMe, { method: 'POST', caller: this.caller, body });
  }

  /** Deletes the own account. */
  leaves() {
    return succeed(this.triesToLeave());
  }

  triesToLeave() {
    return invoke(deleteMe, { method: 'DELETE', caller: this.caller });
  }

  /** Decides as a moderator. Throws the ApiError of a refusal. */
  decides(
    review_id: string,
    verdict: Parameters<typeof decideReview>[1],
    why: Pick<Parameters<typeof decideReview>[2], 'reason' | 'note'> = spam,
  ) {
    return decideReview(review_id, verdict, { ...by(this), ...why });
  }

  #acts(handler: unknown, method: string, review_id: string, body?: unknown, headers?: Headers) {
    return invoke(handler, { method, caller: this.caller, path: { review_id }, body, headers });
  }
}

const spam = { reason: 'spam', note: 'A shop.' } as const;

/** Anybody, who reads what is public. Each function returns the answer, unless it says more. */
export const visitor = {
  reads(review_id: string, headers?: Headers) {
    return invoke(getReview, { path: { review_id }, headers });
  },
  /** Returns the review itself, or undefined if it is not public. */
  async sees(review_id: string) {
    return (await visitor.reads(review_id)).body.review;
  },
  lists(query?: Query, headers?: Headers) {
    return invoke(listReviews, { query, headers });
  },
  listsRevisions(review_id: string, query?: Query, headers?: Headers) {
    return invoke(listRevisions, { path: { review_id }, query, headers });
  },
  readsRevision(review_id: string, rev: string) {
    return invoke(getRevision, { path: { review_id, rev } });
  },
  readsEntity(entity_id: string, query?: Query) {
    return invoke(getEntity, { path: { entity_id }, query });
  },
  readsUser(user_id: string, headers?: Headers) {
    return invoke(getUser, { path: { user_id }, headers });
  },
};

/**
 * Makes an account; without karma it has ten votes a day. `karma` without votes behind it is a
 * wrong count.
 */
export async function makeUser({
  display_name = 'Ann',
  karma = 0,
  created = new Date().toISOString(),
} = {}): Promise<Person> {
  const person = new Person(randomUUID(), display_name, created);
  const { id } = person;
  await storeItems([userItem({ id, display_name, created, karma })]);
  return person;
}

/**
 * Signs in at the identity provider, with `display_name` Zoë and no contact unless given. The same
 * subject gets the same account until that is deleted, then a new one.
 */
export async function signIn(
  identity: Partial<Parameters<typeof findOrCreateUser>[0]> = {},
): Promise<Person> {
  const { id, display_name, created } = await findOrCreateUser({
    issuer: 'https://id.example',
    subject: randomUUID(),
    display_name: 'Zoë',
    email: null,
    musicdb_username: null,
    ...identity,
  });
  return new Person(id, display_name, created);
}

/** Makes a user who is a moderator. */
export async function makeModerator(display_name: string): Promise<Person> {
  const person = await makeUser({ display_name });
  await setModerator(person.id, true);
  return person;
}

/** A tuple of so many people. A list, if the count is only known when the test runs. */
type People<Count extends number, Made extends Person[] = []> = number extends Count
  ? Person[]
  : Made['length'] extends Count
    ? Made
    : People<Count, [...Made, Person]>;

/** Makes several users. */
export function makeUsers<Count extends number>(count: Count): Promise<People<Count>> {
  const people = Array.from({ length: count }, () => makeUser());
  return Promise.all(people) as Promise<People<Count>>;
}

/** Returns a public review of a new entity. Writes nothing. */
export function reviewBy(
  user_id: string,
  content: Partial<Parameters<typeof newReview>[1]> = {},
): WholeReview {
  return newReview(user_id, {
    entity_id: randomUUID(),
    entity_type: 'work',
    language: 'en',
    ...nothingWritten,
    text,
    rating: 4,
    license_choice: 'CC0 1.0',
    is_draft: false,
    ...content,
  });
}

/** The items of a review: a long text has one of its own. */
export function itemsOf(whole: WholeReview): object[] {
  const { review, longText } = setApart(whole);
  return [reviewItem(review), ...(longText ? [longText] : [])];
}

/** Makes so many reviews of one entity by one author that both lists need rank trees. */
export async function makeLongLists(
  { id }: Person,
  change: (review: Review) => Partial<Review> = () => ({}),
): Promise<string> {
  const entity_id = randomUUID();
  const reviews = Array.from({ length: leafCapacity + 1 }, () => {
    const review = reviewBy(id, { entity_id });
    return { ...review, ...change(review) };
  });
  const counts = new Map<string, number>();
  for (const { rating } of reviews) {
    for (const name of ['work', 'EN', `b${rating}`]) {
      counts.set(name, 1 + (counts.get(name) ?? 0));
    }
  }
  for (const key of [entityKey(entity_id), countsKey(id)]) {
    await setAttributes(key, Object.fromEntries(counts));
  }
  await storeReviews(reviews);
  return entity_id;
}

/** An application of `owner`'s that `user` lets act, and the tokens of that. */
export async function makeGrant(
  user: Person,
  scopes: Grant['scopes'],
  { owner = user, lifetime }: { owner?: Person; lifetime?: number } = {},
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

/** Stores reviews that are counted nowhere yet. */
export const storeReviews = (reviews: readonly Review[]) => storeItems(reviews.map(reviewItem));

/** Begins the erasure of an account, and leaves everything that it has made. */
export const beginErasure = ({ id }: { id: string }) =>
  setAttributes(userKey(id), { deleted_at: new Date().toISOString() });

/** The ids in a list of an answer. */
export const idsOf = (list: readonly { id: string }[]) => list.map(({ id }) => id);

/** The operator as the one who decides, for a reason that does not matter. */
export const operator = { reason: 'spam', note: '', moderator_id: null } as const;

/** A moderator as the one who decides. */
export const by = ({ id }: Person) => ({ ...spam, moderator_id: id });

/** Does something while the first reviews and names of accounts wait for a moderator. */
export async function whileHeld<Done>(act: () => Promise<Done>): Promise<Done> {
  process.env.HELD_REVIEWS = '99';
  const done = await act();
  delete process.env.HELD_REVIEWS;
  return done;
}

/** A work that nobody has reviewed yet. */
export const newWork = () => ({ entity_id: randomUUID(), entity_type: 'work' }) as const;
