/** Splits a list into chunks of `size`. The last may be shorter. */
export function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) =>
    list.slice(i * size, (i + 1) * size),
  );
}

/** Splits anything iterable into chunks of `size`, without reading ahead. */
export function* chunksOf<T>(values: Iterable<T>, size: number): Generator<T[]> {
  let chunk: T[] = [];
  for (const value of values) {
    chunk.push(value);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

/**
 * Splits a list into long chunks that fit, one by one. A single element always fits, and a part of
 * a chunk that fits does so too. Halving asks `fits` a few times for each chunk.
 */
export function* fittingChunks<T>(
  list: readonly T[],
  fits: (chunk: readonly T[]) => boolean,
): Generator<T[]> {
  let rest = [...list];
  while (rest.length > 0) {
    let size = 1;
    let tooLong = rest.length + 1;
    while (tooLong - size > 1) {
      const middle = Math.floor((size + tooLong) / 2);
      if (fits(rest.slice(0, middle))) size = middle;
      else tooLong = middle;
    }
    yield rest.slice(0, size);
    rest = rest.slice(size);
  }
}
