import { randomNumbers } from '../../bin/random.ts';

/** Returns choices at random, which are the same for the same seed. */
export function choices(seed: number) {
  const random = randomNumbers(seed);
  /** A whole number from 0 on. */
  const below = (end: number) => Math.floor(random() * end);
  const pick = <T>(from: readonly T[]) => from[below(from.length)] as T;
  return { random, below, pick };
}
