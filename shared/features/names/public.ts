// Names of what is reviewed: asked of databases, given, corrected, proposed and decided.
export { addEntity, addition, correctName, firstName, nameAsOperator } from './correction.ts';
export {
  findOpenName,
  listNamed,
  listOutcomes,
  listOwnProposals,
  listProposed,
  type OpenName,
} from './given-names.ts';
export { job } from './job.ts';
export { kinds } from './kinds.ts';
export { longestNaming, mayBeNamed, recordOf } from './naming.ts';
export { namingFields } from './naming-fields.ts';
export { ownLists } from './own-data.ts';
export { ownSchemas } from './presented.ts';
export {
  acceptProposal,
  declineProposal,
  findProposals,
  keyOfProposal,
  type OpenProposal,
  Proposal,
  withRecords,
} from './proposal.ts';
export { publishedIn, queueEntities, rebuildQueues, waitingSince } from './queue.ts';
export {
  confirmName,
  leadThing,
  mostHidden,
  removeThing,
  returnThing,
  undoChange,
} from './record-decisions.ts';
export { shownRecord } from './revision.ts';
export {
  bringBackName,
  dropProposals,
  takeBackNames,
  unlessLeft,
  type Whole,
} from './undo-account.ts';
export { updateNames } from './update.ts';
