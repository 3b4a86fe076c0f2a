import { randomUUID } from 'node:crypto';
import { ApiError } from '../../shared/errors.ts';
import { setHidden } from '../../shared/moderation/decision-repository.ts';
import { showProgress } from '../progress.ts';
import { newCaller } from './caller.ts';

interface Known {
  id: string;
  entity_id: string;
  entity_type: string;
}

/** An account that an application acts for. */
interface Writer {
  token: string;
  /** Its reviews, and those that it has voted on. */
  reviews: string[];
  votes: string[];
}

const writersAtOnce = 8;
/** Few enough that the daily limit of a newcomer stops hardly any. */
const writesPerWriter = 20;
const text = 'It grew on me, and then it stayed: every side of it has a reason to be there.';

/**
 * Writes at random through a running service, several at once: publishes, edits, deletes, votes, takes votes back, and hides and
 * unhides as an operator does. Gives how many of each there were. What chance makes impossible, such as to vote on what is
 * hidden by now, is refused and not counted. Throws when the service fails.
 */
export async function writeAtRandom(url: string, total: number): Promise<Record<string, number>> {
  const known = await sample(url);
  const writers: Writer[] = [];
  for (let i = 0; i < total; i += writesPerWriter) {
    const { tokens } = await newCaller('Writer');
    writers.push({ token: tokens.access_token, reviews: [], votes: [] });
  }
  const hidden: string[] = [];
  const anyReview = () => (isLucky(0.5) ? pick(known).id : (pick(writers).reviews[0] ?? ''));

  const actions: Record<string, (writer: Writer) => Promise<unknown>> = {
    async publish(writer) {
      const { entity_id, entity_type } = pick(known);
      const review = {
        ...content(),
        entity_id: isLucky(0.5) ? entity_id : randomUUID(),
        entity_type,
        language: pick(['en', 'en', 'de', 'ja']),
        license_choice: 'CC BY-SA 3.0',
      };
      writer.reviews.push((await send(writer, 'POST', '', review)).id);
    },
    edit: (writer) => send(writer, 'POST', `/${writer.reviews[0]}`, content()),
    delete: (writer) => send(writer, 'DELETE', `/${writer.reviews.shift()}`),
    async vote(writer) {
      const id = anyReview();
      await send(writer, 'PUT', `/${id}/vote`, { vote: isLucky(0.6) });
      writer.votes.push(id);
    },
    'take back': (writer) => send(writer, 'DELETE', `/${writer.votes.shift()}/vote`),
    async hide() {
      const id = anyReview();
      await setHidden(id, true);
      hidden.push(id);
    },
    unhide: () => setHidden(hidden.shift() ?? '', false),
  };
  const names = ['publish', 'publish', 'edit', 'edit', 'delete', 'vote', 'vote', 'vote', 'vote'];
  names.push('take back', 'hide', 'unhide');

  const done: Record<string, number> = {};
  let written = 0;
  const show = showProgress('Writing', total);
  await Promise.all(
    Array.from({ length: writersAtOnce }, async () => {
      while (written < total) {
        const name = pick(names);
        try {
          await actions[name]?.(pick(writers));
        } catch (error) {
          if (error instanceof ApiError && error.status < 500) continue;
          throw error;
        }
        done[name] = (done[name] ?? 0) + 1;
        show(++written);
      }
    }),
  );
  return done;

  function send({ token }: Writer, method: string, path: string, body?: object) {
    return ask<{ id: string }>(`${url}/review${path}`, { method, token, body });
  }
}

function content() {
  return { text: isLucky(0.8) ? `${text} ${randomUUID()}` : null, rating: pick([1, 2, 3, 4, 5]) };
}

/** Reviews from all over the list. */
async function sample(url: string): Promise<Known[]> {
  const { count } = await ask<{ count: number }>(`${url}/review?limit=0`);
  const reviews: Known[] = [];
  for (let i = 0; i < 20; i++) {
    const page = await ask<{ reviews: Known[] }>(
      `${url}/review?limit=50&offset=${Math.floor((i * count) / 20)}`,
    );
    reviews.push(...page.reviews);
  }
  return reviews;
}

/** What the service answers. Throws ApiError for anything but 200. */
async function ask<T>(
  url: string,
  { method, token, body }: { method?: string; token?: string; body?: object | undefined } = {},
): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: {
      'Content-Type': 'application/json',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    },
    body: body && JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  if (response.status === 200) return answer as T;
  const { error, description } = answer as { error: string; description: string };
  throw new ApiError(response.status, error, description);
}

function pick<T>(from: readonly T[]): T {
  return from[Math.floor(Math.random() * from.length)] as T;
}

function isLucky(chance: number): boolean {
  return Math.random() < chance;
}
