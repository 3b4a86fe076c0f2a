import * as answers from './answers.ts';
import * as beside from './beside.ts';
import { beyondReach } from './beyond.ts';
import * as lists from './lists.ts';
import * as moderation from './moderation.ts';
import * as oauth from './oauth.ts';
import * as review from './review.ts';
import type { Section } from './suite/row.ts';
import * as users from './users.ts';
import * as votes from './votes.ts';

/** All sections of the contract, in the order in which they are tried. */
export const sections: readonly Section[] = [
  lists.languageList,
  users.profiles,
  review.life,
  review.publishing,
  review.reading,
  review.updating,
  review.drafts,
  review.deleting,
  review.revisions,
  votes.votes,
  votes.reports,
  votes.voteLimit,
  lists.reviewList,
  lists.bulk,
  lists.userList,
  users.me,
  users.credentials,
  oauth.tokens,
  oauth.authorization,
  oauth.publicApplication,
  answers.access,
  answers.answers,
  answers.conditions,
  beside.entities,
  beside.changes,
  beside.documents,
  moderation.hidden,
  moderation.blocked,
  users.leaving,
  beside.pages,
  beyondReach,
];
