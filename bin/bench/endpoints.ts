import { contribution } from '../../shared/aggregates/contribution.ts';
import { project } from '../../shared/aggregates/project.ts';
import { logChanges } from '../../shared/changes/log.ts';
import { batchGet } from '../../shared/table/batch.ts';
import { reviewKey } from '../../shared/table/keys.ts';
import { type Cost, type Line, measureEvent, measureRun, toLine } from './measure.ts';
import { newScene, operationOf, steps } from './requests.ts';

/** Steps whose change the stream's consumer processes, with the name of the change. */
const consumed: Readonly<Record<string, string>> = {
  'create-review': 'a publication',
  'update-review': 'an edit',
  'put-vote': 'a vote',
};

/** Measures a request to each endpoint. Each step leaves what the next steps need. */
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

/** Measures the stream's consumer on a batch of changes, one of each review. */
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
