import type { EntityType } from '../../core/entity/entity-type.ts';
import { readRecord } from '../../core/entity/record.ts';
import { findOpenCase } from '../../core/report/case-repository.ts';
import { findPublicReviews } from '../../core/review/read-reviews.ts';
import { type Changed, findChanges } from '../changes/public.ts';
import { findOpenName } from '../names/public.ts';
import { typeOfPerson, typeOfReview } from './decisions.ts';
import {
  caseMessage,
  changeIn,
  entityMessage,
  type Message,
  nameMessage,
  personMessage,
  type Reported,
  reviewMessage,
  subjectTypeOf,
} from './message.ts';
import type { PersonMessage, ReviewMessage } from './presented.ts';
import type { Webhook } from './webhook.ts';

// Makes messages about changes, from what is stored at the moment.

/**
 * Makes the message about a change, of this type or else of the weightiest that was chosen.
 * Undefined if there is nothing to send, or a later change brings a message about the state of now.
 */
export async function messageAbout(
  webhook: Webhook,
  change: Omit<Changed, 'before'>,
  type?: string,
): Promise<Message | undefined> {
  const { id, kind, client_id } = change.newest;
  if (kind === 'named') return messageAboutName(change);
  if (kind === 'opened') return messageAboutCase(webhook, change);
  if (client_id !== undefined) {
    const chosen = type ?? typeOfPerson(webhook, change.kinds);
    return personMessage(chosen as PersonMessage['type'], change);
  }
  // Strongly consistent: nothing that was hidden before is sent.
  const [authored] = await findPublicReviews([id]);
  const chosen = type ?? typeOfReview(webhook, change.kinds, authored !== undefined);
  return chosen ? reviewMessage(chosen as ReviewMessage['type'], change, authored) : undefined;
}

/** Makes a message once more, from what was logged. Undefined if that has expired. */
export async function messageAgain(webhook: Webhook, { id, type }: { id: string; type: string }) {
  const subject = changeIn(id);
  if (!subject) return undefined;
  const { about, at, entity_type } = subject;
  const changes = await findChanges(subject.id, at);
  const newest = changes.findLast((each) => {
    const isOfType = entity_type === undefined || each.entity_type === entity_type;
    return subjectTypeOf(each) === about && isOfType;
  });
  return newest && messageAbout(webhook, { newest, kinds: new Set([newest.kind]), at }, type);
}

/** Makes the message about the name that an entity has now. */
async function messageAboutName(change: Reported): Promise<Message | undefined> {
  const { id, entity_type } = change.newest;
  const record = await readRecord({ entity_id: id, entity_type: entity_type as EntityType });
  return record && entityMessage(change, record);
}

/**
 * Makes the message about a case as it is now. Undefined if the case is closed by now, if the owner
 * is no moderator, or wants another entity or author: only the review knows both.
 */
async function messageAboutCase(
  { types, entity_id, author_id }: Webhook,
  change: Reported,
): Promise<Message | undefined> {
  if (!types.includes('case.opened')) return undefined;
  const { id, entity_type, user_id } = change.newest;
  if (entity_type !== undefined) {
    const entity = { entity_id: id, entity_type: entity_type as EntityType };
    const named = await findOpenName(entity, user_id);
    const isOfEntity = entity_id === undefined || entity_id === id;
    const isOfAuthor = author_id === undefined || author_id === named?.user_id;
    return named && isOfEntity && isOfAuthor ? nameMessage(change, named) : undefined;
  }
  const opened = await findOpenCase(id);
  const isOfEntity = entity_id === undefined || entity_id === opened?.review.entity_id;
  const isOfAuthor = author_id === undefined || author_id === opened?.review.user_id;
  return opened && isOfEntity && isOfAuthor ? caseMessage(change, opened) : undefined;
}
