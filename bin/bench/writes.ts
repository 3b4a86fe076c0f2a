import { randomUUID } from 'node:crypto';
import type { EndpointRequest } from '../../infra/local/gateway/endpoint-event.ts';
import { ApiError } from '../../shared/base/errors.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { showProgress } from '../progress.ts';
import { sample } from './lists.ts';
import { measure } from './measure.ts';
import { type Caller, newCaller } from './requests.ts';

type Writer = Caller & { reviews: string[]; votes: string[] };

const writersAtOnce = 8;
/** Low enough that the daily limit of a new user hardly ever applies. */
const writesPerWriter = 20;
const text = 'It grew on me, and then it stayed: every side of it has a reason to be there.';

const isLucky = (chance: number) => Math.random() < chance;
const pick = <T>(from: readonly T[]) => from[Math.floor(Math.random() * from.length)] as T;
const content = () => {
  return { text: isLucky(0.8) ? `${text} ${randomUUID()}` : null, rating: pick([1, 2, 3, 4, 5]) };
};
const on = (review_id = '') => ({ path: { review_id } });

/** Sends random writes and counts them by kind, without those that are refused by chance. */
export async function writeAtRandom(total: number): Promise<Record<string, number>> {
  const reviews = await sample();
  const writers: Writer[] = [];
  for (let i = 0; i < total; i += writesPerWriter) {
    writers.push({ ...(await newCaller('Writer')), reviews: [], votes: [] });
  }
  const hidden: string[] = [];
  const anyReview = () => (isLucky(0.5) ? pick(reviews).id : (pick(writers).reviews[0] ?? ''));

  const actions: Record<string, (writer: Writer) => Promise<unknown>> = {
    async publish(writer) {
      const { entity_id, entity_type } = pick(reviews);
      const body = {
        ...content(),
        entity_id: isLucky(0.5) ? entity_id : randomUUID(),
        entity_type,
        language: pick(['en', 'en', 'de', 'ja']),
        license_choice: 'CC BY-SA 3.0',
      };
      writer.reviews.push((await send(writer, 'create-review', { body })).id);
    },
    edit: (writer) => send(writer, 'update-review', { ...on(writer.reviews[0]), body: content() }),
    delete: (writer) => send(writer, 'delete-review', on(writer.reviews.shift())),
    async vote(writer) {
      const id = anyReview();
      const body = { vote: isLucky(0.6) };
      await send(writer, 'put-vote', { ...on(id), body });
      writer.votes.push(id);
    },
    'take back': (writer) => send(writer, 'delete-vote', on(writer.votes.shift())),
    async hide() {
      const id = anyReview();
      await setHidden(id, true);
      hidden.push(id);
    },
    unhide: () => setHidden(hidden.shift() ?? '', false),
  };
  const names = ['publish', 'publish', 'edit', 'edit', 'delete', 'vote', 'vote', 'vote', 'vote'];
  names.push('take back', 'hide', 'unhide');

  const counts: Record<string, number> = {};
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
        counts[name] = (counts[name] ?? 0) + 1;
        show(++written);
      }
    }),
  );
  return counts;
}

async function send({ caller }: Writer, operation: string, request: EndpointRequest) {
  const { status, body } = await measure(operation, { ...request, caller });
  if (status !== 200) throw new ApiError(status, body.error, body.description);
  return body;
}
