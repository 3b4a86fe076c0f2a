// Questions to music and book databases: names of entities, and a search by name.
export { askForMetadata, askForRecords } from './ask.ts';
export { kinds, paceKey } from './kinds.ts';
export { batchSize, canLookUp, OddAnswer } from './request.ts';
export { type FoundEntity, isSearchable, searchEntities } from './search.ts';
