// Corrections of names: at once where a person may, or as a proposal for moderators.
import * as v from 'valibot';
import {
  type Entity,
  type EntityRecord,
  isSameRecord,
  type Origin,
  recordIn,
  recordKey,
  recordWrites,
} from '../entity/record.ts';
import { invalidRequest, notFound, preconditionFailed } from '../errors.ts';
import { countsIn } from '../review/owner-counts.ts';
import { isPublic, Review } from '../review/review.ts';
import { getItems } from '../table/batch.ts';
import { keyString } from '../table/item.ts';
import {
  claimKey,
  decisionKey,
  entityKey,
  proposalKey,
  reviewKey,
  userKey,
} from '../table/keys.ts';
import { keyOf } from '../table/merge.ts';
import { parseItem } from '../table/parse.ts';
import { getItem } from '../table/query.ts';
import { retryStale, transact, type Write } from '../table/transact.ts';
import { spendWriting } from '../user/daily-limit.ts';
import { tell } from '../user/news.ts';
import { isAlive } from '../user/user.ts';
import { findUser } from '../user/user-repository.ts';
import { checkWriter, writeAs } from '../user/writer.ts';
import { type Decider, Decision } from './decision.ts';
import { logEntry, logged, newDecision } from './decision-log.ts';
import { checkNaming, type Namer, type Naming, originOf, recordOf } from './naming.ts';
import { Proposal, proposalWrite } from './proposal.ts';

/** The outcome of a correction: done, proposed to moderators, or nothing to change. */
export type Outcome = 'named' | 'proposed' | 'same';

/** A correction as sent: the words, why, and the version of the record that the form showed. */
export interface Correction {
  naming: Naming;
  note: string;
  seen: number | undefined;
}

/**
 * Names an entity or corrects its name. Moderators do so at once, and so does anybody where nobody
 * else has reviewed or named it, or where it has no name. Otherwise it is proposed to moderators.
 * Counts as an edit. Throws ApiError 412 if the record has changed since, 400 for the name of a
 * moderator, 403 for a blocked account or at the daily limit.
 */
export function correctName(
  entity: Entity,
  { naming, note, seen }: Correction,
  namer: NonNullable<Namer>,
): Promise<Outcome> {
  const { id } = namer;
  return writeAs(id, (writer) =>
    retryStale(async () => {
      await checkNaming(naming, namer);
      const { before, entityItem, isOfOthers } = await readState(entity, id);
      if (before?.version !== seen) throw preconditionFailed('The name');
      const origin = originOf(namer);
      const after = recordOf(entity, naming, { origin, user_id: id }, before);
      const isSame = before !== undefined && isSameWords(before, after);
      if (isSame && note === '') {
        await transact([checkWriter(id, writer)]);
        return 'same';
      }
      const isProposal = before !== undefined && origin === 'member' && isOfOthers;
      const was = origin === 'moderator' ? { is_moderator: true } : undefined;
      const writes = [checkWriter(id, { ...writer, was }), ...spendWriting('edits', id)];
      if (isProposal || isSame) {
        const proposed_at = new Date().toISOString();
        const { name, about, url } = after;
        const proposal = { ...entity, user_id: id, name, note, proposed_at };
        const words = { ...(about !== undefined && { about }), ...(url !== undefined && { url }) };
        await transact([...writes, proposalWrite({ ...proposal, ...words })]);
        return 'proposed';
      }
      const isUnreviewed = entityItem ? { version: entityItem.version } : { pk: undefined };
      const decision = before && correctionOf(before, after, { note, moderator_id: id });
      await transact([
        ...writes,
        // Nobody else has reviewed it meanwhile.
        { ConditionCheck: { Key: entityKey(entity.entity_id), was: isUnreviewed } },
        ...recordWrites(before, after),
        ...(decision ? [logEntry(decision)] : []),
        ...(await newsOf(before, [id])),
      ]);
      return 'named';
    }),
  );
}

/** Names an entity or corrects its name as the operator, without limits. */
export async function nameAsOperator(
  entity: Entity,
  naming: Naming,
  note: string,
): Promise<EntityRecord> {
  return retryStale(async () => {
    const before = recordIn(entity, await getItem(recordKey(entity)));
    const after = recordOf(entity, naming, { origin: 'operator' }, before);
    if (before && isSameWords(before, after)) return before;
    const decision = before && correctionOf(before, after, { note, moderator_id: null });
    await transact([
      ...recordWrites(before, after),
      ...(decision ? logged(decision) : []),
      ...(await newsOf(before, [])),
    ]);
    return after;
  });
}

/** The proposal and the record that a moderator saw. A decision holds for them alone. */
export interface SeenProposal {
  proposed_at: string;
  version: number | undefined;
}

/**
 * Accepts or declines a proposal, and deletes it. Throws ApiError 404 if the decider is no
 * moderator. Throws 400 if the proposal is gone, or if something has changed since it was seen.
 */
export async function decideProposal(
  entity: Entity,
  proposerId: string,
  verdict: 'accept' | 'decline',
  by: Decider,
  seen: SeenProposal,
): Promise<void> {
  const Key = proposalKey(entity.entity_type, entity.entity_id, proposerId);
  await retryStale(async () => {
    const [item, recordItem] = await getItems([Key, recordKey(entity)], { consistent: true });
    const proposal = parseItem(Proposal, item);
    if (!proposal) throw invalidRequest('Somebody has decided on this proposal already');
    const before = recordIn(entity, recordItem);
    const { proposed_at } = proposal;
    if (proposed_at !== seen.proposed_at || before?.version !== seen.version) {
      throw invalidRequest('The proposal or the name has changed since you opened this page');
    }
    const done: Write = { Delete: { Key, was: { proposed_at } } };
    if (verdict === 'accept') {
      const { name, about, url } = proposal;
      const origin = { origin: 'member', user_id: proposerId } as const;
      const after = recordOf(entity, { name, about, url }, origin, before);
      if (!before || isSameWords(before, after)) {
        throw invalidRequest('The proposal changes nothing: decline it');
      }
      return transact([
        done,
        ...recordWrites(before, after),
        ...logged(correctionOf(before, after, by)),
        ...hasAccount(proposerId, by),
        ...(await newsOf(before, [proposerId, by.moderator_id])),
      ]);
    }
    const declined = newDecision('decline', by, {
      user_id: proposerId,
      review_id: null,
      reports: 0,
      ...entity,
      before: before && wordsOf(before),
      after: wordsOf(proposal),
    });
    return transact([done, ...logged(declined)]);
  });
}

/**
 * Undoes a correction of the log, as another correction. Throws ApiError 404 if there is no such
 * correction or the decider is no moderator, 400 if the name was changed since.
 */
export async function undoCorrection(decisionId: string, by: Decider): Promise<void> {
  await retryStale(async () => {
    const item = await getItem(decisionKey(decisionId));
    const { decision, entity_id, entity_type, before, after } = parseItem(Decision, item) ?? {};
    const isCorrection = decision === 'correct' && entity_id && entity_type && before && after;
    if (!isCorrection) throw notFound('Correction');
    const entity: Entity = { entity_id, entity_type };
    const current = recordIn(entity, await getItem(recordKey(entity)));
    if (!current || !isSameWords(current, { ...current, ...blankWords, ...after })) {
      throw invalidRequest('The name has been corrected again since');
    }
    // A database may renew what it wrote.
    const due = isFromDatabase(before.origin) ? { due_at: Date.now() } : {};
    const { user_id, ...words } = before;
    const writer = user_id === undefined ? undefined : await findUser(user_id);
    const restored: EntityRecord = {
      ...entity,
      ...words,
      ...(writer && { user_id: writer.id }),
      ...due,
      written_at: new Date().toISOString(),
    };
    const writes = [
      ...recordWrites(current, restored),
      ...logged(correctionOf(current, restored, by)),
      ...(await newsOf(current, [by.moderator_id])),
    ];
    await transact([...writes, ...(writer ? isStillThere(writer.id, writes) : [])]);
  });
}

const blankWords = { about: undefined, url: undefined };

function isFromDatabase(origin: Origin | undefined): boolean {
  return origin === undefined || origin === 'musicdb' || origin === 'bookdb';
}

/** Returns true if people would read the same. Its author makes no difference. */
function isSameWords(one: EntityRecord, other: EntityRecord): boolean {
  return isSameRecord({ ...one, origin: undefined }, { ...other, origin: undefined });
}

/** Reads what decides on a correction by a person. */
async function readState(entity: Entity, userId: string) {
  const { entity_id } = entity;
  const keys = [recordKey(entity), entityKey(entity_id), claimKey(userId, entity_id)];
  const [item, entityItem, claim] = await getItems(keys, { consistent: true });
  const before = recordIn(entity, item);
  const { all } = countsIn(entityItem);
  const own = all === 1 && claim ? await getItem(reviewKey(`${claim.review_id}`)) : undefined;
  const isOwnCounted = own !== undefined && isPublic(v.parse(Review, own));
  const isNamedByOther = before?.user_id !== undefined && before.user_id !== userId;
  const isOfOthers = isNamedByOther || all > (isOwnCounted ? 1 : 0);
  return { before, entityItem, isOfOthers };
}

/** Makes the entry of the log for a correction. Its subject is who wrote the new words. */
function correctionOf(
  before: EntityRecord,
  after: EntityRecord,
  { note, moderator_id }: Pick<Decider, 'note' | 'moderator_id'>,
): Decision {
  const { entity_id, entity_type, user_id = null } = after;
  return newDecision(
    'correct',
    { reason: 'other', note, moderator_id },
    {
      user_id,
      review_id: null,
      reports: 0,
      entity_id,
      entity_type,
      before: wordsOf(before),
      after: wordsOf(after),
    },
  );
}

/** The account that proposed it must exist, so that its erasure finds the record. */
function hasAccount(userId: string, { moderator_id }: Decider): Write[] {
  // The log checks the account of the moderator.
  if (userId === moderator_id) return [];
  const otherwise = invalidRequest('The account that proposed this was deleted');
  return [checkWriter(userId, { ConditionExpression: isAlive, otherwise })];
}

/**
 * Checks that an account exists, unless one of the writes does. Its erasure then begins later, and
 * finds the record.
 */
function isStillThere(userId: string, writes: readonly Write[]): Write[] {
  const Key = userKey(userId);
  const isChecked = writes.some((write) => keyString(keyOf(write)) === keyString(Key));
  return isChecked ? [] : [{ ConditionCheck: { Key, ConditionExpression: isAlive } }];
}

/** Tells the person whose words are replaced, unless that is one of `others`. */
async function newsOf(
  before: EntityRecord | undefined,
  others: readonly (string | null)[],
): Promise<Write[]> {
  const userId = before?.user_id;
  if (userId === undefined || others.includes(userId)) return [];
  return (await findUser(userId)) ? [{ Update: tell(userId, 'name') }] : [];
}

function wordsOf({
  name,
  about,
  by,
  year,
  url,
  image,
  origin,
  user_id,
}: Omit<EntityRecord, 'entity_id' | 'entity_type'>) {
  const words = { name, about, by, year, url, image, origin, user_id };
  const given = Object.entries(words).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as NonNullable<Decision['before']>;
}
