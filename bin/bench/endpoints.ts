import { contribution } from '../../shared/aggregates/contribution.ts';
import { project } from '../../shared/aggregates/project.ts';
import { logChanges } from '../../shared/changes/log.ts';
import { batchGet } from '../../shared/table/batch.ts';
import { reviewKey } from '../../shared/table/keys.ts';
import { type Cost, type Line, measureEvent, measureRun, toLine } from './measure.ts';
import { newScene, operationOf, steps } from './requests.ts';

/** The steps that the stream's consumer has something to do about, and what they change. */
const consumed: Readonly<Record<string, string>> = {
  'create-review': 'a publication',
  'update-review': 'an edit',
  'put-vote': 'a vote',
};

/** Sends a request to each endpoint, in an order in which each finds what it needs. */
export async function* benchEndpoints(): AsyncGenerator<Line> {
  const scene = await newScene();
  for (const step of steps) {
    const { status, ...cost } = await measureEvent(operationOf(step), step.event(scene));
    const isExpected = step.isRefused && status === 401;
    yield toLine(step.name, { ...cost, status: isExpected ? 200 : status }, step.budget(scene));
    step.learn?.(scene, cost.body);
    const change = consumed[step.name];
    if (!change) continue;
    yield toLine(`update-aggregates (${change})`, await measureConsumer([scene.own]), {});
  }
}

/** What the stream's consumer does about a batch of changes, one of each review. */
export async function measureConsumer(ids: readonly string[]): Promise<Cost> {
  const reviews = [...(await batchGet(ids.map(reviewKey), { consistent: true })).values()];
  const changes = reviews.map(({ id, version }) => {
    return { id: `${id}`, version: Number(version), isGone: false };
  });
  const { result: body, ...cost } = await measureRun(async () => {
    await project(reviews.map(contribution));
    await logChanges(changes);
  });
  return { ...cost, status: 200, body };
}
