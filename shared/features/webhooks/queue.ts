/** Runs tasks, so many at a time, first in, first out. */
export class Queue {
  readonly #most: number;
  #running = 0;
  /** Tasks that wait: those that go first, and the others. */
  readonly #first: (() => void)[] = [];
  readonly #others: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Waits for a place, and returns what the task returns. With `isFirst`, others wait longer. */
  async run<T>(task: () => Promise<T>, isFirst = false): Promise<T> {
    if (this.#running < this.#most) this.#running++;
    else {
      const { promise, resolve } = Promise.withResolvers<void>();
      (isFirst ? this.#first : this.#others).push(resolve);
      await promise;
    }
    try {
      return await task();
    } finally {
      const next = this.#first.shift() ?? this.#others.shift();
      // The next one takes over the place.
      if (next) next();
      else this.#running--;
    }
  }
}
