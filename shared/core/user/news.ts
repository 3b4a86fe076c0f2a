import * as v from 'valibot';
import type { Update } from '../../base/table/transact.ts';
import { userKey } from '../keys.ts';

// News for a person: counters on the account, which every page of that person reads anyway.

/**
 * Kinds of news: a verdict on an own review, or an own webhook that the service turned off. Also
 * the correction of a name that the person gave, and the outcome of a proposal.
 */
export const newsKinds = [
  'hide',
  'approve',
  'restore',
  'uphold',
  'refuse',
  'webhook',
  'name',
  'accept',
  'decline',
] as const;
export type NewsKind = (typeof newsKinds)[number];

/** The attribute of an account that counts unread news of a kind. */
type NewsName = `news_${NewsKind}`;

/** Returns the attribute of a kind. */
export const newsName = (kind: NewsKind): NewsName => `news_${kind}`;

/** Counters of unread news, as stored on an account. */
export const News = v.object(
  v.entriesFromList(newsKinds.map(newsName), v.optional(v.number(), undefined)),
);
export type News = v.InferOutput<typeof News>;

/** Returns the amounts that tell a person one piece of news. Other words are no news. */
export function newsAmounts(kind: string): { [Name in NewsName]?: number } {
  const found = newsKinds.find((each) => each === kind);
  return found ? { [newsName(found)]: 1 } : {};
}

/** Returns the unread news by kind. */
export function unreadNews(user: News): [kind: NewsKind, count: number][] {
  return newsKinds.flatMap((kind) => {
    const count = user[newsName(kind)] ?? 0;
    return count > 0 ? [[kind, count] as [NewsKind, number]] : [];
  });
}

/** Returns the number of unread news. */
export function countNews(user: News): number {
  return unreadNews(user).reduce((sum, [, count]) => sum + count, 0);
}

/** Returns the write that tells an existing person something. */
export function newsUpdate(userId: string, kind: NewsKind): Update {
  return {
    Key: userKey(userId),
    amounts: newsAmounts(kind),
    where: [
      ['pk', 'present'],
      ['deleted_at', 'absent'],
    ],
  };
}
