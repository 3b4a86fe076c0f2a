import { contribution } from '../../shared/aggregates/contribution.ts';
import { project } from '../../shared/aggregates/project.ts';
import { logChanges } from '../../shared/changes/log.ts';
import { batchGet } from '../../shared/table/batch.ts';
import { reviewKey } from '../../shared/table/keys.ts';
import { measureEvent, measureRun } from './measure.ts';
import { newScene, operationOf, type Scene, steps } from './requests.ts';
import { type Line, type Run, toLine } from './table.ts';

/** The steps that the stream's consumer has something to do about, and what they change. */
const consumed: Readonly<Record<string, string>> = {
  'create-review': 'a publication',
  'update-review': 'an edit',
  'put-vote': 'a vote',
};

/** Sends a request to each endpoint, in an order in which each finds what it needs, and counts; each of them is a line. */
export async function benchEndpoints(
  runs: number,
  onRun: (share: number) => void = () => {},
): Promise<Line[]> {
  const taken = new Map<string, Run[]>();
  const add = (name: string, run: Run) => taken.set(name, [...(taken.get(name) ?? []), run]);
  for (let run = 0; run < runs; run++) {
    const scene = await newScene(run);
    for (const step of steps) {
      const cost = await measureEvent(operationOf(step), step.event(scene));
      const status = step.isRefused && cost.status === 401 ? 200 : cost.status;
      add(step.name, { cost: { ...cost, status }, budget: step.budget(scene) });
      step.learn?.(scene, cost.body);
      const change = consumed[step.name];
      if (change) add(`update-aggregates (${change})`, await consume(scene));
    }
    onRun((run + 1) / runs);
  }
  return [...taken].map(([name, runs]) => toLine(name, runs));
}

/** Does what the stream's consumer does about one change of a review. */
async function consume({ own }: Scene): Promise<Run> {
  const items = await batchGet([reviewKey(own)], { consistent: true });
  const { result: _, ...cost } = await measureRun(async () => {
    for (const item of items.values()) {
      await project([contribution(item)]);
      const version = Number(item.version);
      await logChanges([{ id: own, version, isGone: false }]);
    }
  });
  return { cost: { ...cost, status: 200, body: undefined }, budget: {} };
}
