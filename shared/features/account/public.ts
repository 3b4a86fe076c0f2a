// A person's own account: sign-in, address, name, own data, tokens, leaving.

export { checkProvider, ProviderFault } from './check-provider.ts';
export { csvOf } from './csv.ts';
export { deleteAccount } from './delete-account.ts';
export { eraseAccount } from './erase-account.ts';
export { eraseLeftovers, findLeftovers } from './erase-leftovers.ts';
export { readOwnData } from './export.ts';
export { beginSignIn, finishSignIn, prompts } from './identity-provider.ts';
export { FormerIdentity, findOrCreateUser, opensAccount } from './identity-repository.ts';
export { type LeftOut, linkIdentity, relink } from './link.ts';
export { type MoveOutcome, moveIdentity, undoMove } from './move-identity.ts';
export { accountPage } from './pages/account-page.ts';
export { appealOn } from './pages/appeal.ts';
export { hiddenReviewPage } from './pages/hidden-review-page.ts';
export { deletionPage, farewell, rememberDeletion } from './pages/leaving.ts';
export { movePage, moveSignInPage, readMove, undonePage, undoPage } from './pages/move-pages.ts';
export { namePage } from './pages/name-page.ts';
export { ownButtons, ownReviews } from './pages/own-reviews.ts';
export { ownTabs } from './pages/own-tabs.ts';
export { newTokenPage, tokensPage } from './pages/tokens-page.ts';
export * as presented from './presented.ts';
export { OwnData } from './presented.ts';
export { findProviderSignOut } from './provider-sign-out.ts';
