// Decisions on accounts, the desk of moderators, and the undoing of an account.
export { accountVerdicts, decideUser } from './account-decisions.ts';
export { listWaiting, type OpenReview, type Waiting } from './desk-list.ts';
export { allowReview, listHiddenClaims } from './hidden-claims.ts';
export { approveAllForm } from './pages/approve-all-form.ts';
export { AuthorQuery, authorPage } from './pages/author-page.ts';
export { casePage } from './pages/case-page.ts';
export {
  invitationDays,
  invitationsPage,
  invitationUrl,
  newInvitationPage,
} from './pages/invitations-page.ts';
export { logPage } from './pages/log-page.ts';
export {
  decisionOf,
  linkTo,
  moderationTabs,
  moderationUrl,
  noReason,
  reasonsOf,
  reasonWords,
  requireModerator,
  saying,
  snapshotOf,
  stateOf,
} from './pages/moderation.ts';
export { isReport, nameCell, wordsBeforeAndAfter } from './pages/names-page.ts';
export { reportPage } from './pages/report-page.ts';
export { thingPage } from './pages/thing-page.ts';
export { approveAll, findHeldWith, releaseRest } from './release.ts';
export { takeBackNamesOfDeleted, undoAll } from './undo-all.ts';
