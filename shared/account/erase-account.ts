import { anonymous } from '../entity/record.ts';
import { eraseDecision } from '../moderation/decision-log.ts';
import { eraseReport } from '../moderation/report-repository.ts';
import { takeBackNamesOfDeleted } from '../moderation/undo-all.ts';
import { eraseGrants } from '../oauth/application-repository.ts';
import { deleteGrants } from '../oauth/grant-repository.ts';
import { eraseReview } from '../review/review-repository.ts';
import { deleteItems, eraseWhile } from '../table/erase.ts';
import {
  claimKey,
  countsKey,
  dailyVotesKey,
  idIn,
  userKey,
  webhookKey,
  webhookSlots,
} from '../table/keys.ts';
import { eachOf, queryIndex, queryItems } from '../table/query.ts';
import { transact, tryTransact, type Write } from '../table/transact.ts';
import { eraseVote } from '../vote/vote-repository.ts';
import { detachIdentity } from './identity-repository.ts';

/**
 * Deletes everything a deleted account has made, updates all counts, and finally deletes the
 * account. Each transaction checks that the account was not restored. Can be stopped anywhere and
 * repeated. The stream starts a second run, for items that an index did not show before.
 */
export async function eraseAccount(userId: string): Promise<void> {
  const Key = userKey(userId);
  const ConditionExpression = 'attribute_not_exists(pk) OR attribute_exists(deleted_at)';
  await eraseWhile({ Key, ConditionExpression }, async (isGone) => {
    await detachIdentity(userId);
    await eraseAll(userId, isGone);
    const { otherwise } = isGone;
    await transact([{ Delete: { Key, ConditionExpression }, otherwise }]);
  });
}

async function eraseAll(userId: string, isGone: Write): Promise<void> {
  const entriesOf = (kind: string) => eachOf(queryIndex('author-by-date', `${kind}#${userId}`));
  await deleteGrants(userId, undefined, (keys) => deleteItems(keys, isGone));
  for await (const application of entriesOf('OWNER')) {
    const client = idIn(application);
    const webhooks = webhookSlots.map((slot) => webhookKey(client, slot));
    await deleteItems([application, ...webhooks], isGone);
    await eraseGrants(client);
  }
  for await (const claim of eachOf(queryItems(claimKey(userId, '')))) {
    await eraseReview(String(claim.review_id), isGone);
    await deleteItems([claim], isGone);
  }
  for await (const vote of entriesOf('VOTER')) {
    await eraseVote(idIn(vote), userId, isGone);
  }
  for await (const report of entriesOf('REPORTER')) {
    await eraseReport(idIn(report), userId, isGone);
  }
  await takeBackNamesOfDeleted(userId, isGone);
  for await (const record of entriesOf('NAMER')) {
    // Somebody else may have written it since.
    await tryTransact([isGone, anonymous(record, userId)]);
  }
  for await (const proposals of queryIndex('author-by-date', `PROPOSER#${userId}`)) {
    await deleteItems(proposals, isGone);
  }
  for (const list of ['SUBJECT', 'NAMING']) {
    for await (const decision of entriesOf(list)) await eraseDecision(decision, isGone);
  }
  for await (const codes of queryIndex('author-by-date', `APPROVER#${userId}`)) {
    await deleteItems(codes, isGone);
  }
  for await (const days of queryItems(dailyVotesKey(userId, ''))) {
    await deleteItems(days, isGone);
  }
  await deleteItems([countsKey(userId)], isGone);
}
