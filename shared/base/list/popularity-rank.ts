// Numbers that the popularity order sorts by.

/** Difference that one vote makes in `popularityRank`. */
export const rankStep = 10n ** 29n;

/**
 * Returns the number that the popularity order sorts by: 38 digits of popularity, time of
 * publication (ms) and the first 52 bits of the id. It is a number so that a vote moves a review
 * with one ADD, without reading its popularity.
 */
export function popularityRank(popularity: number, published_on: string, id: string): bigint {
  const bits = BigInt(`0x${id.replaceAll('-', '').slice(0, 13)}`);
  return firstRank(popularity, Date.parse(published_on)) + bits;
}

/** Returns the lowest rank of a popularity and a time of publication (epoch ms). */
export function firstRank(popularity: number, time: number): bigint {
  return BigInt(popularity) * rankStep + BigInt(time) * 10n ** 16n;
}

/** Returns the popularity in a rank. */
export function popularityOf(rank: bigint): number {
  const votes = rank / rankStep;
  // Division of bigints rounds towards zero, and the time in a rank is positive.
  return Number(rank < 0n && votes * rankStep !== rank ? votes - 1n : votes);
}

/** Returns the time of publication in a rank (epoch ms). */
export function publicationIn(rank: bigint): number {
  const rest = rank % rankStep;
  return Number((rest < 0n ? rest + rankStep : rest) / 10n ** 16n);
}
