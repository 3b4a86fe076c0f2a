import type { EntityRecord } from './record.ts';

// States of a thing with a name: public, waiting, removed, or leading to another.

/** Somebody who looks at a thing. */
export interface Viewer {
  id: string;
  isModerator: boolean;
}

type Stated = Pick<EntityRecord, 'state' | 'user_id'>;

/**
 * Returns true if everybody may read the name. One that is `waiting` was given by somebody whose
 * reviews are held, until the first review of it is approved. One that is `removed` was taken down.
 */
export function isPublicName({ state }: Pick<Stated, 'state'>): boolean {
  return state === undefined;
}

/** Returns true if this person may read the name: its author and moderators read one that waits. */
export function isNameFor(record: Stated, viewer: Viewer | undefined): boolean {
  if (record.state !== 'waiting' || viewer === undefined) return isPublicName(record);
  return viewer.isModerator || viewer.id === record.user_id;
}

/**
 * Returns true for what lists of things show: it has a name, is public, and leads to no other. What
 * only a search in a database has found is not among them. Takes a record, an item, or an image of
 * the stream.
 */
export function isFindable(record: Readonly<Record<string, unknown>> | undefined): boolean {
  return hasFindableName(record) && record?.leads_to === undefined;
}

/** Returns true for a name that a search finds: of what `isFindable`, or of what leads to it. */
export function hasFindableName(record: Readonly<Record<string, unknown>> | undefined): boolean {
  const { name, state, expires_at } = record ?? {};
  const isNamed = name !== undefined && name !== null;
  return isNamed && state === undefined && expires_at === undefined;
}
