// The names and proposals of one account, taken back or brought back as parts of a decision on it.
import * as v from 'valibot';
import { ApiError, invalidRequest } from '../../base/errors.ts';
import { parseItem } from '../../base/table/parse.ts';
import { eachOf, getItem, queryIndex } from '../../base/table/query.ts';
import { retryStale, transact, type Write } from '../../base/table/transact.ts';
import { isJoined } from '../../core/entity/links.ts';
import { type Entity, type EntityRecord, entityOf, readRecord } from '../../core/entity/record.ts';
import type { Decider, Decision } from '../../core/report/decision.ts';
import { decisionsAbout, logEntry } from '../../core/report/decision-log.ts';
import { endOf, Proposal, proposalItem, refusalOf } from './proposal.ts';
import { undoing, writeRevision } from './revise.ts';
import { type Revision, replacedBy, revisionIn } from './revision.ts';

/** A decision on all that an account did, and the check that it is still to be carried out. */
export interface Whole {
  userId: string;
  by: Decider;
  /** Id of the decision. */
  part_of: string;
  check: Write;
}

/** Leaves what the moderator may not decide on, or what was changed or withdrawn meanwhile. */
export async function unlessLeft(part: Promise<unknown>): Promise<void> {
  try {
    await part;
  } catch (error) {
    const isLeft = error instanceof ApiError && [400, 404].includes(error.status);
    if (!isLeft) throw error;
  }
}

/**
 * Sets the names of an account back to what others had written, and removes those that nobody had
 * named before, each by one decision. A name stays that somebody has changed since, that a
 * moderator has confirmed, that is joined with another, or that others have public reviews under.
 */
export async function takeBackNames(whole: Whole): Promise<void> {
  const { userId } = whole;
  const own: Revision[] = [];
  // Older code has listed own corrections among the decisions on a person.
  for (const log of ['NAMING', 'SUBJECT'] as const) {
    for await (const entry of eachOf(decisionsAbout(userId, log))) {
      const revision = entry.moderator_id === userId ? revisionIn(entry) : undefined;
      if (revision) own.push(revision);
    }
  }
  const replaced = replacedBy(userId, own);
  for await (const { pk } of eachOf(queryIndex('author-by-date', `NAMER#${userId}`))) {
    const entity = entityOf(pk);
    if (!entity) continue;
    await undoPart(entity, whole, (record) => {
      const isLeft = record.user_id !== userId || record.is_confirmed || isJoined(record);
      return isLeft ? undefined : { before: replaced.get(pk), after: record };
    });
  }
}

/** Undoes the revision of a record that `choose` returns, if any. */
function undoPart(
  entity: Entity,
  { userId, by, part_of, check }: Whole,
  choose: (record: EntityRecord) => Revision | undefined,
): Promise<void> {
  const part = { user_id: userId, part_of };
  return unlessLeft(
    retryStale(async () => {
      const record = await readRecord(entity);
      const revision = record && choose(record);
      if (!revision) return;
      const undo = await undoing(revision, record, { confirms: false });
      await writeRevision(undo, { by, part, also: [check], isChecked: true });
    }),
  );
}

/** Declines the open proposals. The log keeps all of them, to bring them back. */
export async function dropProposals({ userId, by, part_of, check }: Whole): Promise<void> {
  for await (const { pk, sk } of eachOf(queryIndex('author-by-date', `PROPOSER#${userId}`))) {
    await retryStale(async () => {
      const proposal = parseItem(Proposal, await getItem({ pk, sk }));
      if (!proposal) return;
      const { note, proposed_at } = proposal;
      const refusal = refusalOf(proposal, by, { proposed: { note, proposed_at }, part_of });
      await transact([endOf(proposal), logEntry(refusal), check]);
    });
  }
}

/** Brings back a name or proposal, unless somebody has changed or made another one since. */
export async function bringBackName(entry: Decision, whole: Whole): Promise<void> {
  const revision = revisionIn(entry);
  if (revision) return undoPart(revision.after, whole, () => revision);
  const proposal = v.safeParse(Proposal, { ...entry.after, ...entry, ...entry.proposed });
  if (!proposal.success) return;
  const Put = { Item: proposalItem(proposal.output), was: { pk: undefined } };
  await unlessLeft(transact([{ Put, otherwise: invalidRequest('It is there') }, whole.check]));
}
