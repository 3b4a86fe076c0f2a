import type { LogCursor } from '../changes/cursor.ts';
import { isOfReview } from '../changes/logged-change.ts';
import type { Changed, LogWindow } from '../changes/window.ts';
import type { LogReader } from './log-reader.ts';

/** The way of one receiver through the log, at its own pace. */
export class LogWalk {
  readonly #log: LogReader;
  readonly #wants: (change: Changed) => boolean;
  #cursor: LogCursor | undefined;
  /** The window that the cursor is in, and the index of its next change. */
  #window: LogWindow | undefined;
  #index = 0;
  /** The end of the log when the window was read. */
  #readTo: LogCursor | undefined;

  /** `wants` chooses the changes that the receiver is told. */
  constructor(log: LogReader, cursor: LogCursor | undefined, wants: (change: Changed) => boolean) {
    this.#log = log;
    this.#cursor = cursor;
    this.#wants = wants;
  }

  /** The cursor before the next change. */
  get cursor(): LogCursor | undefined {
    return this.#cursor;
  }

  /** Goes to a cursor, by default to the end of the log. */
  goTo(cursor: LogCursor | undefined = this.#log.end): void {
    this.#cursor = cursor;
    this.#window = undefined;
    this.#index = 0;
  }

  /**
   * Finds the next change that is wanted. Undefined at the end, as it is by now. Throws ApiError
   * 410.
   */
  async next(): Promise<Changed | undefined> {
    while (this.#cursor) {
      if (!this.#window) {
        this.#readTo = this.#log.end;
        this.#window = await this.#log.windowAt(this.#cursor);
      }
      const { changed, end, hasMore } = this.#window;
      for (; this.#index < changed.length; this.pass()) {
        const change = changed[this.#index];
        if (!change || !this.#wants(change)) continue;
        // In its lane, which is then read first, whatever is logged in others meanwhile.
        this.#cursor = change.before;
        return change;
      }
      this.goTo(end);
      if (!hasMore && this.#readTo === this.#log.end) break;
    }
    return undefined;
  }

  /** Moves the cursor behind the next change. */
  pass(): void {
    this.#index++;
    this.#cursor = this.#window?.changed[this.#index]?.before ?? this.#window?.end;
  }

  /** Returns the next wanted changes of reviews in this window, up to `most`. */
  upcoming(most: number): Changed[] {
    const left = this.#window?.changed.slice(this.#index) ?? [];
    return left.filter((each) => isOfReview(each.newest) && this.#wants(each)).slice(0, most);
  }
}
