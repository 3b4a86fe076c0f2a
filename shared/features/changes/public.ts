// The public log of changes, for mirrors and webhooks.
export { currentCursor, mostPageBytes, readChanges } from './change-feed.ts';
export { cursorLifetime, LogCursor, markOf } from './cursor.ts';
export { kinds } from './kinds.ts';
export { beginEpoch, findChanges, findCursor, logChanges, readLogEnd } from './log.ts';
export { type ChangeKind, isOfReview, type LoggedChange } from './logged-change.ts';
export * as presented from './presented.ts';
export { ChangePage, PublicRecord, Subject } from './presented.ts';
export { reviewRecord } from './record.ts';
export { casesIn, entitiesIn, peopleIn, reviewsIn } from './stream.ts';
export { type Changed, type LogWindow, readWindow } from './window.ts';
