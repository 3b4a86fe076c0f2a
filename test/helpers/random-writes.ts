import { setTimeout as sleep } from 'node:timers/promises';
import { callerOf } from './api.ts';

/** Kinds of writes. */
type Deed = 'publish' | 'edit' | 'vote' | 'take back' | 'rename' | 'hide' | 'unhide' | 'delete';

/** Hears of each write that hides, restores or deletes a review, and of its answer. */
type Observer = (deed: 'hide' | 'unhide' | 'delete', id: string, answer: Promise<unknown>) => void;

export const pick = <T>(from: readonly T[]): T =>
  from[Math.floor(Math.random() * from.length)] as T;

/** Makes writers, who act at random on reviews and votes that all of them know. */
export function randomWriters(observe: Observer = () => {}) {
  /** Each with its owner's token. */
  const reviews: { id: string; token: string }[] = [];
  const votes: { id: string; token: string }[] = [];
  const done: Record<string, number> = {};

  /**
   * Writes at random for that long, or with `isWhole` until each kind of write was done once.
   * Ignores writes that chance or the end of the service makes impossible.
   */
  async function write(
    url: string,
    tokens: readonly string[],
    forSeconds: number,
    isWhole = false,
  ): Promise<void> {
    const { reviewBody, text } = await import('./world.ts');
    const { setHidden } = await import('../../shared/core/report/decision-repository.ts');
    const until = Date.now() + 1000 * forSeconds;
    const send = async (token: string, method: string, path: string, body?: unknown) => {
      const answer = await callerOf(url, token)(method, path, body);
      if (answer.status !== 200) throw new Error(`${answer.status}`);
      return answer.body;
    };
    const anyone = () => pick(tokens);
    const publish = async () => {
      const token = anyone();
      reviews.push({ token, id: (await send(token, 'POST', '/review', reviewBody())).id });
    };
    const rename = () =>
      send(anyone(), 'POST', '/user/me', { display_name: `Ann ${Math.random()}` });
    const edit = (body: object) => {
      const { id, token } = pick(reviews);
      return send(token, 'POST', `/review/${id}`, body);
    };
    const vote = async () => {
      const cast = { token: anyone(), id: pick(reviews.slice(-200)).id };
      await send(cast.token, 'PUT', `/review/${cast.id}/vote`, { vote: Math.random() < 0.6 });
      votes.push(cast);
    };
    const takeBack = () => {
      const { id, token } = pick(votes);
      return send(token, 'DELETE', `/review/${id}/vote`);
    };
    const observed = (deed: Parameters<Observer>[0], id: string, answer: Promise<unknown>) => {
      observe(deed, id, answer);
      return answer;
    };
    const hide = (isHidden: boolean) => {
      const { id } = pick(reviews);
      return observed(isHidden ? 'hide' : 'unhide', id, setHidden(id, isHidden));
    };
    const remove = async () => {
      const { id, token } = pick(reviews);
      if (Math.random() < 0.5) await observed('delete', id, send(token, 'DELETE', `/review/${id}`));
    };
    const acts: [Deed, () => Promise<unknown>][] = [
      ['publish', publish],
      ['publish', publish],
      ['edit', () => edit({ rating: pick([1, 2, 3, 4, 5]) })],
      ['edit', () => edit({ text: `${Math.random()} ${text}` })],
      ['vote', vote],
      ['vote', vote],
      ['vote', vote],
      ['take back', takeBack],
      ['rename', rename],
      ['hide', () => hide(true)],
      ['unhide', () => hide(false)],
      ['unhide', () => hide(false)],
      ['delete', remove],
    ];
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (;;) {
          const missing = acts.filter(([name]) => !done[name]);
          const isOver = Date.now() >= (isWhole && missing.length > 0 ? until + 20_000 : until);
          if (isOver) break;
          const due = Date.now() < until ? acts : missing;
          const [name, act] = reviews.length < 10 ? (acts[0] as (typeof acts)[0]) : pick(due);
          try {
            await act();
            done[name] = (done[name] ?? 0) + 1;
          } catch {
            // Chance or the end of the service has made it impossible.
          }
          // A fast machine would make more reviews than a receiver reads in time.
          await sleep(40 * Math.random());
        }
      }),
    );
  }
  return { reviews, done, write };
}
