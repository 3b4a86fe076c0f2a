import { type LogCursor, markOf } from '../changes/cursor.ts';
import { type Changed, type LogWindow, readWindow } from '../changes/window.ts';
import { type AuthoredReview, findPublicReviews } from '../review/read-reviews.ts';

/** Reviews and people in a window of the log. */
const windowSize = 100;

/** Windows that are kept. Receivers that came as far as each other read the same ones. */
const mostWindows = 100;

/** In milliseconds, for which a review counts as it was read. Then it may have been hidden. */
const freshness = 500;

/** Reviews that are read together, with their authors. */
const mostTogether = 25;

/** Reads the log and reviews for all receivers of a run, once for those that come together. */
export class LogReader {
  #end: LogCursor;
  readonly #windows = new Map<string, Promise<LogWindow>>();
  readonly #reviews = new Map<
    string,
    { readAt: number; reading: Promise<AuthoredReview | undefined> }
  >();

  constructor(end: LogCursor) {
    this.#end = end;
  }

  /** The end of the log when the run last looked. */
  get end(): LogCursor {
    return this.#end;
  }

  /** Lets everybody read on, up to a later end of the log. */
  moveTo(end: LogCursor): void {
    this.#end = end;
  }

  /** Reads the window after a cursor. Throws ApiError 410 if the cursor is gone. */
  windowAt(cursor: LogCursor): Promise<LogWindow> {
    const key = `${markOf(this.#end)} ${JSON.stringify(cursor)}`;
    const window = this.#windows.get(key) ?? readWindow(cursor, this.#end, { limit: windowSize });
    // The last one used is the last one dropped.
    this.#windows.delete(key);
    this.#windows.set(key, window);
    for (const [oldest] of this.#windows) {
      if (this.#windows.size <= mostWindows) break;
      this.#windows.delete(oldest);
    }
    return window;
  }

  /**
   * Returns the first of these reviews with its author, or undefined if it is not public. It was
   * read, strongly consistent, at most half a second ago: nothing that was hidden before is
   * returned. The others are read with it, up to 25.
   */
  async reviewOf(upcoming: readonly Changed[]): Promise<AuthoredReview | undefined> {
    const now = performance.now();
    for (const [id, { readAt }] of this.#reviews) {
      if (now - readAt <= freshness) break;
      this.#reviews.delete(id);
    }
    const [id = '', ...others] = upcoming.slice(0, mostTogether).map(({ newest }) => newest.id);
    if (!this.#reviews.has(id)) {
      const ids = [id, ...others.filter((each) => !this.#reviews.has(each))];
      const reading = findPublicReviews(ids);
      for (const each of ids) {
        const found = reading.then((all) => all.find(({ review }) => review.id === each));
        // Nobody may ask for it. A failure then belongs to nobody.
        found.catch(() => {});
        this.#reviews.set(each, { readAt: now, reading: found });
      }
    }
    return this.#reviews.get(id)?.reading;
  }
}
