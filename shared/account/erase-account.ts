import { eraseDecision } from '../moderation/decision-repository.ts';
import { eraseReport } from '../moderation/report-repository.ts';
import { deleteGrantsOf } from '../oauth/application-repository.ts';
import { deleteGrants } from '../oauth/grant-repository.ts';
import { eraseReview } from '../review/review-repository.ts';
import { batchWrite } from '../table/batch.ts';
import { claimKey, contactKey, dailyVotesKey, idIn, userKey } from '../table/keys.ts';
import { eachOf, queryIndex, queryItems } from '../table/query.ts';
import { eraseVote } from '../vote/vote-repository.ts';

/**
 * Takes away what a deleted account has made: grants, applications, reviews, votes, reports, codes, and at last the account itself; every count
 * follows in the same transaction. It can be stopped anywhere and repeated. What an index did not show yet is found by a second run, which the
 * stream brings about when the account is gone.
 */
export async function eraseAccount(userId: string): Promise<void> {
  await deleteGrants(userId);
  for await (const { pk, sk } of eachOf(queryIndex('author-by-date', `OWNER#${userId}`))) {
    await batchWrite([{ delete: { pk, sk } }]);
    await deleteGrantsOf(idIn({ pk }));
  }
  for await (const claim of eachOf(queryItems(claimKey(userId, '')))) {
    await eraseReview(String(claim.review_id));
    await batchWrite([{ delete: { pk: claim.pk, sk: claim.sk } }]);
  }
  for await (const vote of eachOf(queryIndex('author-by-date', `VOTER#${userId}`))) {
    await eraseVote(idIn(vote), userId);
  }
  for await (const report of eachOf(queryIndex('author-by-date', `REPORTER#${userId}`))) {
    await eraseReport(idIn(report), userId);
  }
  for await (const key of eachOf(queryIndex('author-by-date', `SUBJECT#${userId}`))) {
    await eraseDecision(key);
  }
  for await (const { pk, sk } of eachOf(queryIndex('author-by-date', `APPROVER#${userId}`))) {
    await batchWrite([{ delete: { pk, sk } }]);
  }
  for await (const { pk, sk } of eachOf(queryItems(dailyVotesKey(userId, '')))) {
    await batchWrite([{ delete: { pk, sk } }]);
  }
  await batchWrite([{ delete: contactKey(userId) }, { delete: userKey(userId) }]);
}
