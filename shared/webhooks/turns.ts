// Turns of webhooks: whose receiver is sent messages next, and for how long.

/**
 * Turns at the same time by kind, 50 in all: each holds a connection. Each kind has places of its
 * own, so that nobody waits for another kind. A request takes at most 15 seconds. So a place of
 * slow ones is free after 0.75 seconds on average, and one of tests after 1.5 seconds.
 */
const places = {
  /** Tests, messages that owners want again, and receivers that have never answered. */
  asked: 10,
  quick: 15,
  slow: 20,
  /** Changes that were sent before. */
  replay: 5,
};

export type TurnKind = keyof typeof places;

const allPlaces = Object.values(places).reduce((sum, each) => sum + each);

/**
 * Accounts that find places of each kind at the same time: each has at most a fifth of them. An
 * account with 50 webhooks feels it, because its webhooks wait for each other.
 */
const fewestAccounts = 5;

/** In milliseconds. After it a turn ends, if another one could begin in its place. */
const longestTurn = 1_000;

/** Reasons by which turns are given. */
export interface Claim {
  /** The id of the account. */
  owner: string;
  kind: TurnKind;
  /** Epoch ms of the last request to the receiver, or since when a first one waits. */
  since: number;
}

/** A turn that is under way. */
export interface Turn {
  /** Returns true if the turn is over: of another kind by now, or long while others wait. */
  isOver(): boolean;
}

/**
 * Chooses the next turn beside those under way: of the account with the fewest turns of its kind,
 * and of its webhooks the one that waits longest. Undefined if none may begin now. Replays begin
 * only while no quick receiver and no test waits for a place.
 */
export function nextOf<C extends Claim>(
  waiting: Iterable<C>,
  underWay: Iterable<Claim>,
): C | undefined {
  const taken = countTurns(underWay);
  const isPostponed = mustYield(waiting, taken);
  let next: C | undefined;
  for (const claim of waiting) {
    if (claim.kind === 'replay' && isPostponed) continue;
    if (taken[claim.kind].all >= places[claim.kind] || !hasShare(claim, taken)) continue;
    if (!next || isBefore(claim, next, taken)) next = claim;
  }
  return next;
}

/** Turns under way of each kind: in all, and by account. */
type Taken = Record<TurnKind, { all: number; by: Map<string, number> }>;

function countTurns(underWay: Iterable<Claim>): Taken {
  const none = () => ({ all: 0, by: new Map<string, number>() });
  const taken = { asked: none(), quick: none(), slow: none(), replay: none() };
  for (const { kind, owner } of underWay) {
    const { by } = taken[kind];
    taken[kind].all++;
    by.set(owner, (by.get(owner) ?? 0) + 1);
  }
  return taken;
}

function ownTurns({ kind, owner }: Claim, taken: Taken): number {
  return taken[kind].by.get(owner) ?? 0;
}

function hasShare(claim: Claim, taken: Taken): boolean {
  return ownTurns(claim, taken) < places[claim.kind] / fewestAccounts;
}

/** Returns true if replays must yield, because something else waits that its account may have. */
function mustYield(waiting: Iterable<Claim>, taken: Taken): boolean {
  for (const claim of waiting) {
    const isLive = claim.kind === 'quick' || claim.kind === 'asked';
    if (isLive && hasShare(claim, taken)) return true;
  }
  return false;
}

function isBefore(one: Claim, other: Claim, taken: Taken): boolean {
  const difference = ownTurns(one, taken) - ownTurns(other, taken);
  return difference < 0 || (difference === 0 && one.since < other.since);
}

/** One that waits or has a turn, with its claim as it was when it began to wait. */
interface Entry<T> extends Claim {
  one: T;
}

/** Gives turns to all that are added, until none wants another. */
export class Turns<T> {
  readonly #claimOf: (one: T) => Claim;
  readonly #take: (one: T, turn: Turn) => Promise<boolean>;
  readonly #waiting = new Set<Entry<T>>();
  readonly #underWay = new Set<Entry<T>>();
  #rest = Promise.withResolvers<void>();

  /** `take` sends messages, and returns true to wait for another turn. It must not throw. */
  constructor(claimOf: (one: T) => Claim, take: (one: T, turn: Turn) => Promise<boolean>) {
    this.#claimOf = claimOf;
    this.#take = take;
  }

  /** Lets all of them wait for a turn. */
  add(all: Iterable<T>): void {
    for (const one of all) this.#waiting.add({ ...this.#claimOf(one), one });
    this.#begin();
  }

  /** Waits until nobody is left, at most so many milliseconds. Returns true if nobody is. */
  async areOver(milliseconds: number): Promise<boolean> {
    if (this.#underWay.size === 0) return true;
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, milliseconds);
    await Promise.race([this.#rest.promise, timeout.promise]);
    clearTimeout(timer);
    return this.#underWay.size === 0;
  }

  #begin(): void {
    for (let free = allPlaces - this.#underWay.size; free > 0; free--) {
      const next = nextOf(this.#waiting, this.#underWay);
      if (!next) break;
      this.#waiting.delete(next);
      this.#underWay.add(next);
      void this.#serve(next);
    }
    if (this.#underWay.size > 0) return;
    this.#rest.resolve();
    this.#rest = Promise.withResolvers();
  }

  async #serve(entry: Entry<T>): Promise<void> {
    const end = performance.now() + longestTurn;
    const wantsMore = await this.#take(entry.one, { isOver: () => this.#isOver(entry, end) });
    this.#underWay.delete(entry);
    if (wantsMore) this.#waiting.add({ ...this.#claimOf(entry.one), one: entry.one });
    this.#begin();
  }

  #isOver(entry: Entry<T>, end: number): boolean {
    if (this.#claimOf(entry.one).kind !== entry.kind) return true;
    const others = [...this.#underWay].filter((each) => each !== entry);
    if (entry.kind === 'replay' && mustYield(this.#waiting, countTurns(others))) return true;
    return performance.now() > end && nextOf(this.#waiting, others) !== undefined;
  }
}
