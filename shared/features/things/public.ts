// Lists of what is reviewed, and the search by name.
export { findMeant, findNamesakes, findThings, mostFound } from './find-things.ts';
export { folded } from './folded.ts';
export { type FoundThing, presentThing } from './found.ts';
export { keepThings } from './keep-things.ts';
export { kinds } from './kinds.ts';
export { listMostReviewed, listThings, mostLatest } from './list-things.ts';
export { prior, type ThingSort, thingSorts } from './listing.ts';
export { namingPage } from './pages/name-page.ts';
export { namingLink, namingUrl, recordUrl } from './pages/naming-form.ts';
export { ReviewedEntity, refilledReview, startReview } from './pages/new-review-page.ts';
export { isOther, refilledThing, requireOwnTypes, startThing } from './pages/new-thing-page.ts';
export { browseTabs, numbersOf, thingShelf } from './pages/thing-list.ts';
export { ThingPage } from './presented.ts';
export { buildThings, rebuildThings } from './rebuild-things.ts';
export { riseKey } from './rise.ts';
export { settleRisen } from './settle-risen.ts';
export {
  entityOfEntry,
  entriesOf,
  isEntry,
  placesIn,
  reviewedIn,
  type Thing,
  wordsIn,
} from './thing.ts';
export { mostWords } from './words.ts';
