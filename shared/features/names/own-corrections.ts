// The corrections that a person has proposed: those that wait, and what became of the others.
import { type ListPage, readNewest } from '../../base/list/read-page.ts';
import { getItems } from '../../base/table/batch.ts';
import type { SortKey } from '../../base/table/item.ts';
import { parseItems } from '../../base/table/parse.ts';
import type { Decision } from '../../core/report/decision.ts';
import { listDecisions } from '../../core/report/decision-log.ts';
import { Proposal } from './proposal.ts';

/** Reads a page of the proposals of a person that wait for a moderator, newest first. */
export async function listOwnProposals(
  userId: string,
  limit: number,
  after?: SortKey,
): Promise<Pick<ListPage, 'next'> & { proposals: Proposal[] }> {
  const list = { scope: 'author', value: `PROPOSER#${userId}` } as const;
  const { entries, next } = await readNewest(list, limit, after);
  return { proposals: parseItems(Proposal, await getItems(entries)), next };
}

/** Decisions about a person that are read for the outcomes among them. The page shows no others. */
const mostDecisions = 50;

/** Returns the latest decisions of others on what a person has proposed, newest first. */
export async function listOutcomes(userId: string): Promise<Decision[]> {
  const { decisions } = await listDecisions(mostDecisions, { userId });
  // Names that are taken or brought back with everything were not proposed.
  return decisions.filter(
    ({ decision, part_of }) =>
      decision === 'decline' || (decision === 'correct' && part_of === undefined),
  );
}
