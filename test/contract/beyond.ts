import { beyond, type Section } from './suite/row.ts';

/** Statements of the contract that no client can see within a run of this suite. */
// biome-ignore format: one row, one line
export const beyondReach: Section = {
  title: 'Beyond this suite',
  rows: [
    beyond('specification', 'source and source_url of an imported review', 'it takes an import by the operator'),
    beyond('decision', 'A user publishes 200 reviews a day and edits 200 times', 'it takes 200 publications'),
    beyond('decision', 'A user with a karma of 50 has 50 votes a day', 'it takes 50 voters'),
    beyond('decision', 'A code expires after 60 seconds', 'it takes a minute'),
    beyond('decision', 'A refresh is answered again for 30 seconds, and not longer', 'it takes a minute'),
    beyond('decision', 'A position in the change log is gone after 30 days', 'it takes 30 days'),
    beyond('decision', 'An application has 10 grants of a user, and the oldest ends', 'it takes eleven consents'),
    beyond('decision', 'Two reviews of an entity at the same time are one', 'rows are tried one after the other'),
    beyond('decision', 'Refreshes at the same time leave the grant alive', 'rows are tried one after the other'),
    beyond('decision', 'An author appeals once', 'it is done on a page'),
    beyond('decision', 'A user registers at most 25 applications, and rotates their secrets', 'it is done on a page'),
    beyond('decision', 'A user ends the access of an application', 'it is done on a page'),
    beyond('decision', 'The sign-out ends all sessions', 'it is done on a page'),
    beyond('decision', 'People name what they review', 'it is done on a page'),
    beyond('decision', 'The first reviews of a newcomer wait for a moderator', 'it is an option of the service'),
    beyond('decision', 'A webhook receives each change at least once', 'it takes a receiver'),
    beyond('decision', 'An error of the service has a request_id', 'no request causes one'),
  ],
};
