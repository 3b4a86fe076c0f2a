import { contribution } from '../../shared/aggregates/contribution.ts';
import { project } from '../../shared/aggregates/project.ts';
import { batchGet } from '../../shared/table/batch.ts';
import { reviewKey } from '../../shared/table/keys.ts';
import { newCaller } from './caller.ts';
import { type Cost, measureEvent, measureRun } from './measure.ts';
import { newScene, operationOf, type Scene, steps } from './requests.ts';
import { type Line, type Run, toLine } from './table.ts';

/** Sends a request to each endpoint, in an order in which each finds what it needs, and counts; each of them is a line. */
export async function benchEndpoints(runs: number): Promise<Line[]> {
  const taken = new Map<string, Run[]>();
  const add = (name: string, run: Run) => taken.set(name, [...(taken.get(name) ?? []), run]);
  for (let run = 0; run < runs; run++) {
    const scene = await newScene(run, countOne, newCaller);
    for (const step of steps) {
      const cost = await measureEvent(operationOf(step), step.event(scene));
      const status = step.isRefused && cost.status === 401 ? 200 : cost.status;
      add(step.name, { cost: { ...cost, status }, budget: step.budget?.(scene) ?? {} });
      step.learn?.(scene, cost.body);
      if (step.name === 'create-review')
        add('update-aggregates (a publication)', await consume(scene));
      if (step.name === 'put-vote') add('update-aggregates (a vote)', await consume(scene));
    }
  }
  return [...taken].map(([name, runs]) => toLine(name, runs));
}

async function countOne(operation: string, event: object): Promise<{ body: string }> {
  const { body }: Cost = await measureEvent(operation, event);
  return { body: JSON.stringify(body) };
}

/** What the stream's consumer does about one change of a review. */
async function consume({ own }: Scene): Promise<Run> {
  const [item = {}] = (await batchGet([reviewKey(own)], { consistent: true })).values();
  const { result: _, ...cost } = await measureRun(() => project([contribution(item)]));
  return { cost: { ...cost, status: 200, body: undefined }, budget: {} };
}
