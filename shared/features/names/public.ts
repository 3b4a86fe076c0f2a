// Names of what is reviewed: asked of databases, given, corrected, proposed and decided.
export { addEntity, addition, correctName, nameAsOperator } from './correction.ts';
export { listNamed, listProposed } from './given-names.ts';
export { longestNaming, mayBeNamed, recordOf } from './naming.ts';
export { type LoggedChange, shownRecord, undoingChange } from './naming-decisions.ts';
export { firstName, namingFields } from './naming-fields.ts';
export { findOpenName, type OpenName } from './open-name.ts';
export { listOutcomes, listOwnProposals } from './own-corrections.ts';
export {
  endOf,
  findProposals,
  keyOfProposal,
  type OpenProposal,
  Proposal,
  proposalItem,
  withRecords,
} from './proposal.ts';
export { acceptProposal, declineProposal } from './proposal-decisions.ts';
export { publishedIn, queueEntities, rebuildQueues, waitingSince } from './queue.ts';
export {
  changeIn,
  confirmName,
  leadThing,
  mostHidden,
  removeThing,
  returnThing,
  undoChange,
  undoneEntry,
  undoneWrites,
  withdrawAddition,
} from './record-decisions.ts';
export { updateNames } from './update.ts';
