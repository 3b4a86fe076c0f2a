import { deleteItems, eraseWhile } from '../../base/table/erase.ts';
import type { Key } from '../../base/table/item.ts';
import { idIn } from '../../base/table/item.ts';
import { eachOf, queryIndex, queryItems } from '../../base/table/query.ts';
import { transact, tryTransact, type Write } from '../../base/table/transact.ts';
import { anonymous } from '../../core/entity/record.ts';
import { claimKey, userKey, webhookKeys } from '../../core/keys.ts';
import { eraseGrants } from '../../core/oauth/application-repository.ts';
import { eraseDecision } from '../../core/report/decision-log.ts';
import { eraseReport } from '../../core/report/report-repository.ts';
import { isRemains } from '../../core/review/erase.ts';
import { eraseReview } from '../../core/review/review-repository.ts';
import { whereGone } from '../../core/user/user.ts';
import { eraseVote } from '../../core/vote/vote-repository.ts';
import { type KindName, kindNames, kinds } from '../kinds.ts';
import { takeBackNamesOfDeleted } from '../moderation/public.ts';
import { detachIdentity } from './detach-identity.ts';

/**
 * Deletes everything a deleted account has made, updates all counts, and finally deletes the
 * account. Each transaction checks that the account was not restored. Can be stopped anywhere and
 * repeated. The stream starts a second run, for items that an index did not show before.
 */
export async function eraseAccount(userId: string): Promise<void> {
  const Key = userKey(userId);
  await eraseWhile({ Key, where: whereGone }, async (isGone) => {
    await detachIdentity(userId);
    await eraseAll(userId, isGone);
    const { otherwise } = isGone;
    await transact([{ Delete: { Key, where: whereGone }, otherwise }]);
  });
}

type Erase = (entry: Key, userId: string, isGone: Write) => Promise<unknown>;

/** Erasures of what is listed by its person and not simply deleted. */
const erasures: { [K in KindName]?: Erase } = {
  application: async (application, _, isGone) => {
    const client = idIn(application);
    await deleteItems([application, ...webhookKeys(client)], isGone);
    await eraseGrants(client);
  },
  // Somebody else may have written it since.
  entity: (record, userId, isGone) => tryTransact([isGone, anonymous(record, userId)]),
  review: (review, _, isGone) => eraseReview(idIn(review), isGone),
  vote: (vote, userId, isGone) => eraseVote(idIn(vote), userId, isGone),
  report: (report, userId, isGone) => eraseReport(idIn(report), userId, isGone),
  decision: (decision, _, isGone) => eraseDecision(decision, isGone),
};

async function eraseAll(userId: string, isGone: Write): Promise<void> {
  // Claims find reviews that the index does not show yet.
  for await (const claim of eachOf(queryItems(claimKey(userId, '')))) {
    await eraseReview(String(claim.review_id), isGone);
  }
  await takeBackNamesOfDeleted(userId, isGone);
  for (const name of kindNames) {
    const erase = erasures[name];
    for (const list of [kinds[name].author ?? []].flat()) {
      if (!list.endsWith('<user_id>')) continue;
      const pages = queryIndex('author-by-date', list.replace('<user_id>', userId));
      for await (const entries of pages) {
        if (!erase) await deleteItems(entries, isGone);
        else for (const entry of entries) await erase(entry, userId, isGone);
      }
    }
  }
  for await (const items of queryItems({ pk: userKey(userId).pk, sk: '' })) {
    await deleteItems(items.filter(isRemains), isGone);
  }
}
