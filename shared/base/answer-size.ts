// The size of an answer: its limit, and where a list ends in it.

/** Most bytes of the answer to a public read. A larger one is refused as 503, see route-load.ts. */
export const mostAnswerBytes = 512 * 1024;

/**
 * Bytes for all that is not an item of the list: the frame, style and filters of a page. The widest
 * page links to 183 languages, which takes 45 KB. A reader of the longest items gets shorter pages.
 */
const besideItems = 64 * 1024;

/** Most bytes of the items in an answer. */
const mostItemBytes = mostAnswerBytes - besideItems;

/** Returns how many of the first items fit an answer, by their sizes in bytes. At least one. */
export function fitting(sizes: readonly number[], most = mostItemBytes): number {
  let sum = 0;
  const first = sizes.findIndex((bytes) => {
    sum += bytes;
    return sum > most;
  });
  return first === -1 ? sizes.length : Math.max(1, first);
}
