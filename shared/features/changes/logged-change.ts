// Changes as the log holds them: what a change says, and its form in an item.

/**
 * Kinds of changes of a review. `published` is also a restored review. `voted` is every change of
 * anything but the content, such as a vote or a dismissed report.
 */
const reviewKinds = ['published', 'edited', 'voted', 'removed'] as const;

/**
 * Kinds of changes of a person who uses an application: access was revoked, or the account was
 * deleted. They are not public. Only the application learns of them.
 */
const personKinds = ['revoked', 'deleted'] as const;

/** Kinds of changes of the record of an entity: its name or what else people read of it. */
const entityKinds = ['named'] as const;

/**
 * Kinds of changes of what waits for moderators: it begins to wait. They are not public, but for
 * moderators.
 */
const caseKinds = ['opened'] as const;

export type ReviewKind = (typeof reviewKinds)[number];
type PersonKind = (typeof personKinds)[number];
type EntityKind = (typeof entityKinds)[number];
type CaseKind = (typeof caseKinds)[number];
export type ChangeKind = ReviewKind | PersonKind | EntityKind | CaseKind;

/**
 * A write of a public review, or its end as one. Or the end of a person's access, another name of
 * an entity, or something that begins to wait for moderators.
 */
export interface LoggedChange {
  /**
   * Of the review, the person or the entity. A case has the id of its review. A name that waits has
   * that of its entity, with `entity_type`, and a proposal also its `user_id`.
   */
  id: string;
  /** Version of the item after the write. 0 for a person. */
  version: number;
  kind: ChangeKind;
  /** Entity and author of the review. Unset if older code has logged the change. */
  entity_id?: string;
  user_id?: string;
  /** The `kind` of the review in indexes, if it is longer than most. It tells the size. */
  index?: string;
  /** The application, if the change is of a person. */
  client_id?: string;
  /** The type of the entity, if the change is of its record or a name that waits. */
  entity_type?: string;
}

/** Returns true if the change is of a review. */
export function isOfReview({ kind }: Pick<LoggedChange, 'kind'>): boolean {
  return reviewKinds.some((each) => each === kind);
}

/** Returns true for a change that everybody may know. */
export function isPublicChange({ kind }: Pick<LoggedChange, 'kind'>): boolean {
  return ![...personKinds, ...caseKinds].some((each) => each === kind);
}

/**
 * Returns a key that changes of the same review, of its case, of the same entity, or of one person
 * and application, share.
 */
export function subjectOf({ id, kind, client_id, entity_type, user_id }: LoggedChange): string {
  if (kind === 'opened') return [id, entity_type, user_id, 'case'].filter(isGiven).join(' ');
  return `${id} ${client_id ?? entity_type ?? ''}`;
}

/** Removes repetitions: keeps the change of the highest version for each subject and kind. */
export function distinct(changes: readonly LoggedChange[]): LoggedChange[] {
  // Changes of a subject stay together, so that a window does not end between them.
  const bySubject = Map.groupBy(changes, subjectOf);
  return [...bySubject.values()].flatMap((ofOne) => {
    const byKind = Map.groupBy(ofOne, ({ kind }) => kind);
    const newest = [...byKind.values()].map((same) => same.reduce(newerOf));
    return newest.sort((a, b) => a.version - b.version);
  });
}

/** Returns the change with the higher version, or the second of two with the same. */
export function newerOf(one: LoggedChange, other: LoggedChange): LoggedChange {
  return one.version > other.version ? one : other;
}

/** Kinds as stored, beside the changes: older code takes any word after a version for `gone`. */
const letters = {
  removed: 'r',
  published: 'p',
  edited: 'e',
  voted: 'v',
  revoked: 'a',
  deleted: 'd',
  named: 'n',
  opened: 'o',
} as const satisfies Record<ChangeKind, string>;

/** Changes in the form of a log item. */
interface StoredChanges {
  changes: string[];
  /** One letter for each change. */
  kinds?: string;
  /**
   * For each change its entity and author, its application, or the type of the entity. For a
   * proposal, the type and the person.
   */
  about?: string[];
}

const isGiven = (word: string | undefined) => word !== undefined;

/** Formats changes for an item of the log. */
export function formatChanges(changes: readonly LoggedChange[]): Required<StoredChanges> {
  return {
    changes: changes.map(({ id, version, kind }) =>
      kind === 'removed' ? `${id} ${version} gone` : `${id} ${version}`,
    ),
    kinds: changes.map(({ kind }) => letters[kind]).join(''),
    about: changes.map(aboutOf),
  };
}

function aboutOf({ kind, entity_id = '', user_id, index, client_id, entity_type }: LoggedChange) {
  if (kind === 'opened') return [entity_type, user_id].filter(isGiven).join(' ');
  return client_id ?? entity_type ?? [entity_id, user_id ?? '', index].filter(isGiven).join(' ');
}

/** Parses the changes of a log item. */
export function parseChanges({ changes, kinds = '', about = [] }: StoredChanges): LoggedChange[] {
  return changes.map((text, i) => parseChange(text, kinds[i], about[i]));
}

/** A change without a known letter counts as an edit: every receiver of reviews takes one. */
function parseChange(text: string, letter?: string, about = ''): LoggedChange {
  const [id = '', digits, gone] = text.split(' ');
  const kinds = Object.keys(letters) as ChangeKind[];
  const found = kinds.find((each) => letters[each] === letter) ?? 'edited';
  const kind = gone === undefined ? found : 'removed';
  const version = Number(digits);
  if (kind === 'named') return { id, version, kind, entity_type: about };
  if (kind === 'opened') {
    const [entity_type, user_id] = about.split(' ');
    return { id, version, kind, ...(entity_type && { entity_type }), ...(user_id && { user_id }) };
  }
  if (!isOfReview({ kind })) return { id, version, kind, client_id: about };
  const [entity_id, user_id, index] = about.split(' ');
  if (!entity_id || !user_id) return { id, version, kind };
  return { id, version, kind, entity_id, user_id, ...(index !== undefined && { index }) };
}
