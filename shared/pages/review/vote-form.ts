// The vote on a review: its forms on pages and in lists, and what they send.
import { html } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import { oneOf } from '../../base/values.ts';
import type { AuthoredReview } from '../../core/review/read-reviews.ts';
import type { Review } from '../../core/review/review.ts';
import { limitReached } from '../../core/user/daily-limit.ts';
import { blockedAccount } from '../../core/user/writer.ts';
import type { Vote } from '../../core/vote/vote.ts';
import { type Ballot, findVotesOn, voteObstacle } from '../../core/vote/vote-repository.ts';
import { csrfField, type Html, type Visitor } from '../frame/layout.ts';
import { withQuery } from '../frame/own-url.ts';

/** Choice of a form: to vote up or down, or to take the vote back. */
export const VoteChoice = oneOf(['up', 'down', 'none']);
export type Choice = 'up' | 'down' | 'none';

/** Words of a button, with the number of votes that the choice has. */
function wordsOf(choice: Choice, { votes_positive, votes_negative }: Review): string {
  if (choice === 'none') return 'Take back';
  return choice === 'up' ? `Yes ${votes_positive}` : `No ${votes_negative}`;
}

const directions = ['up', 'down'] as const;

const question = 'Was this helpful?';

/** Reviews at the top of a list that show the visitor's vote. More would cost too much to read. */
const votesShown = 4;

/** A visitor's votes on the first reviews of a list. */
export interface Votes {
  visitor: Visitor;
  /** By review. Holds only the reviews that were looked up. */
  votes: ReadonlyMap<string, Vote | undefined>;
}

/** Reads a visitor's votes on the first reviews of a list that can be voted on: two read units. */
export async function readVotes(
  visitor: Visitor | undefined,
  reviews: readonly AuthoredReview[],
): Promise<Votes | undefined> {
  if (!visitor) return undefined;
  const { id } = visitor.user;
  const votable = reviews.filter(({ review }) => voteObstacle(review, id) === undefined);
  const first = votable.slice(0, votesShown).map(({ review }) => review.id);
  return { visitor, votes: await findVotesOn(first, id) };
}

/** Address of the page to vote on a review. */
function voteUrl(reviewId: string, vote?: Choice): string {
  return withQuery(`${authUrl()}/review/${reviewId}/vote`, { vote });
}

/** The votes of a review in a list. `name` distinguishes its buttons from those of others. */
export function voteLine(review: Review, name: string, mine?: Votes): Html | '' {
  const { id, user_id, text } = review;
  if (text === null) return '';
  const address = `${authUrl()}/review/${id}`;
  if (mine?.visitor.user.id === user_id) {
    return html`<p class="votes soft">${question} ${tallyChips(review)} <a href="${address}">Your review</a></p>`;
  }
  if (!mine?.votes.has(id) || mine.visitor.user.blocked_at !== undefined) {
    return html`<p class="votes soft">${question} <a href="${address}#vote">${tallyChips(review)}</a></p>`;
  }
  const vote = mine.votes.get(id);
  return html`<form class="votes soft" method="post" action="${voteUrl(id)}">
      ${csrfField(mine.visitor.csrf, { return_to: mine.visitor.here })}
      ${!vote && question}
      ${directions.map((choice) => (vote && choice === directionOf(vote) ? chosenChip(review, choice) : button(review, choice, 'chip', name)))}
      ${vote && html`${stateOf(vote)} ${button(review, 'none', 'link', name)}`}
    </form>`;
}

/** The section of a review's page to vote, or to sign in first. A review of stars has none. */
export function voteSection(review: Review, visitor?: Visitor, ballot?: Ballot): Html | '' {
  if (review.text === null) return '';
  return html`<section id="vote">
    <h2>${question}</h2>
    ${visitor && ballot ? ownVote(review, visitor, ballot) : signInToVote(review)}
  </section>`;
}

function signInToVote(review: Review) {
  return html`<div class="buttons">
      ${directions.map((choice) => html`<a class="button quiet" rel="nofollow" href="${voteUrl(review.id, choice)}">${wordsOf(choice, review)}</a>`)}
    </div>
    <p class="soft">Everybody has one vote on a review, so you sign in first. Then you confirm your vote and come back here.</p>`;
}

/**
 * A visitor's own vote, with the choices, or why the visitor cannot vote. With a `choice` that
 * changes something, shows its button alone.
 */
export function ownVote(
  review: Review,
  { user, csrf }: Visitor,
  { vote, left }: Ballot,
  choice?: Choice,
): Html {
  const isBlocked = user.blocked_at !== undefined;
  const obstacle = isBlocked ? blockedAccount : voteObstacle(review, user.id)?.message;
  if (obstacle !== undefined) return html`<p>${tally(review)}</p><p>${obstacle}.</p>`;
  if (!vote && left === 0) {
    return html`<p>${tally(review)}</p><p>${limitReached('votes', user).message}.</p>`;
  }
  const choices = choicesAfter(vote);
  const isAsked = choice !== undefined && choices.includes(choice);
  return html`${vote && html`<p>${tally(review)} <strong>${stateOf(vote)}</strong></p>`}
    <form method="post" action="${voteUrl(review.id)}">
      ${csrfField(csrf)}
      <div class="buttons">
        ${isAsked ? button(review, choice, 'confirm') : choices.map((each) => button(review, each, 'quiet'))}
      </div>
    </form>
    <p class="soft">${restOf(left)} You can always change a vote.</p>`;
}

function restOf(left: number): string {
  if (left === 0) return 'You have no new votes left today (UTC).';
  return `You can vote on ${left} more ${left === 1 ? 'review' : 'reviews'} today (UTC).`;
}

/** The looks of a button: to confirm a choice, on a review's page, and in a list. */
type ButtonKind = 'confirm' | 'quiet' | 'chip' | 'link';

/** The choice is in the address, so that a sign-in in between leads back to it. */
function button(review: Review, choice: Choice, kind: ButtonKind, name?: string) {
  const words = wordsOf(choice, review);
  const label = name && html` aria-label="${words}: ${name}"`;
  const look = kind !== 'confirm' && html` class="${kind}"`;
  return html`<button${look} formaction="${voteUrl(review.id, choice)}"${label}>${words}</button>`;
}

function choicesAfter(vote: Vote | undefined): Choice[] {
  if (!vote) return [...directions];
  return [vote.vote ? 'down' : 'up', 'none'];
}

function directionOf({ vote }: Vote) {
  return vote ? 'up' : 'down';
}

function stateOf({ vote }: Vote) {
  return `You said ${vote ? 'yes' : 'no'}.`;
}

function tally({ votes_positive, votes_negative }: Review) {
  return `Yes ${votes_positive} · No ${votes_negative}`;
}

/** Both counts, as a list shows them where there is nothing to press. */
function tallyChips(review: Review) {
  return directions.map((choice) => html`<span class="chip">${wordsOf(choice, review)}</span> `);
}

/** The count of the visitor's own vote. */
function chosenChip(review: Review, choice: Choice) {
  return html`<strong class="chip">${wordsOf(choice, review)}</strong> `;
}
