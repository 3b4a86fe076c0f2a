// What receivers of webhooks must hear of the changes that they chose, and what they must not.

/** Types of messages about reviews. */
export const reviewTypes = [
  'review.published',
  'review.edited',
  'review.voted',
  'review.removed',
] as const;
export type Type =
  | (typeof reviewTypes)[number]
  | 'access.revoked'
  | 'user.deleted'
  | 'entity.edited';

export interface Choice {
  types: Type[];
  entity_id?: string;
  author_id?: string;
}

export interface Message {
  id: string;
  /** Epoch ms of its arrival, and of the event. */
  arrived: number;
  at: number;
  type: Type | 'log.restarted' | 'webhook.test';
  /** False if the receiver failed, and so kept nothing. */
  isKept: boolean;
  data: {
    id?: string;
    version?: number;
    review?: object | null;
    user_id?: string;
    subject?: { id: string };
    challenge?: string;
  };
}

/** The parts of a message that tell its place among others. */
type Told = { id: string; data: Pick<Message['data'], 'id' | 'version'> };

export interface Receiver extends Choice {
  webhook: { client_id: string };
  messages: Message[];
}

/** A change that the service has confirmed, from its begin to its answer (epoch ms). */
export interface Change {
  type: Type;
  /** Of the review, person or entity. */
  id: string;
  entity_id?: string;
  author_id?: string;
  /** Of the application, if the change is of a person. */
  client_id?: string;
  begin: number;
  end: number;
}

/** Types by weight, of a review that is public in the message, and of one that is not. */
const byWeight = {
  public: ['review.published', 'review.edited', 'review.voted', 'review.removed'],
  removed: ['review.removed', 'review.published', 'review.edited', 'review.voted'],
} satisfies Record<string, Type[]>;

/** Is true if a message tells of a change, or of a weightier one of the same review since. */
function tells({ type, at, data, isKept }: Message, change: Change): boolean {
  if (!isKept || at < change.begin) return false;
  // The receiver then reads everything.
  if (type === 'log.restarted') return true;
  if (type === 'access.revoked' || type === 'user.deleted') {
    const isAsWeighty = type === 'user.deleted' || type === change.type;
    return isAsWeighty && change.client_id !== undefined && data.user_id === change.id;
  }
  if (type === 'entity.edited') return type === change.type && data.subject?.id === change.id;
  if (data.id !== change.id) return false;
  // What was public before it is gone, even if another change has brought the review back.
  if (type === 'review.removed') return true;
  const order: Type[] = byWeight[data.review ? 'public' : 'removed'];
  return order.indexOf(type as Type) <= order.indexOf(change.type);
}

/** Is true if a receiver must hear of a change. */
export function hasChosen(
  { types, entity_id, author_id, webhook }: Receiver,
  change: Change,
): boolean {
  const isMine = change.client_id === undefined || change.client_id === webhook.client_id;
  const isOfEntity = entity_id === undefined || change.entity_id === entity_id;
  const isOfAuthor = author_id === undefined || change.author_id === author_id;
  const isOfPerson = change.client_id !== undefined;
  return types.includes(change.type) && isMine && (isOfPerson || (isOfEntity && isOfAuthor));
}

const inShort = ({ type, at, arrived, isKept, data }: Message) =>
  `${type} ${at} ${arrived} ${isKept} ${data.review ? 'public' : ''}`;

/** Changes that a receiver has chosen and never heard of, with what it heard of the same review. */
export function untold(receivers: readonly Receiver[], changes: readonly Change[]) {
  return receivers.flatMap((receiver) =>
    changes
      .filter((change) => hasChosen(receiver, change))
      .filter((change) => !receiver.messages.some((message) => tells(message, change)))
      .map((change) => {
        const heard = receiver.messages.filter(
          ({ type, data }) => data.id === change.id || type === 'log.restarted',
        );
        return { types: receiver.types.join(), ...change, heard: heard.map(inShort) };
      }),
  );
}

/** First messages about a version that came after a higher version of the same subject. */
export function wentBack<M extends Told>(receivers: readonly { messages: readonly M[] }[]): M[] {
  return receivers.flatMap(({ messages }) => {
    const highest = new Map<string, number>();
    const seen = new Set<string>();
    return messages.filter(({ id, data }) => {
      if (data.id === undefined || data.version === undefined) return false;
      const before = highest.get(data.id) ?? 0;
      const isNew = !seen.has(id);
      seen.add(id);
      highest.set(data.id, Math.max(before, data.version));
      return isNew && data.version < before;
    });
  });
}

/** Ids that name several subjects or times. */
export function ambiguous(receivers: readonly Receiver[]) {
  const named = new Map<string, Set<string>>();
  for (const { id, at, data } of receivers.flatMap(({ messages }) => messages)) {
    const subject = data.id ?? data.user_id ?? data.subject?.id ?? '';
    named.set(id, (named.get(id) ?? new Set()).add(`${subject} ${at}`));
  }
  return [...named].filter(([, subjects]) => subjects.size > 1);
}

/** Milliseconds in which a message that was read before may still be on its way. */
const onItsWay = 1_000;

/**
 * Messages with a review that was removed before they came, and not published since. `returns` are
 * the changes that make a review public, also those without an answer.
 */
export function leaks(
  messages: readonly Message[],
  changes: readonly Change[],
  returns: readonly Pick<Change, 'id' | 'begin' | 'end'>[],
) {
  const ends = changes.filter(({ type }) => type === 'review.removed');
  return messages.filter(({ arrived, data }) => {
    const isBackAfter = ({ end }: Change) =>
      returns.some((each) => each.id === data.id && each.end > end && each.begin < arrived);
    return (
      data.review &&
      ends.some((each) => {
        const isBefore = each.id === data.id && each.end + onItsWay < arrived;
        return isBefore && !isBackAfter(each);
      })
    );
  });
}
