import { writeFileSync } from 'node:fs';
import { check, newSceneOf } from './cpu.ts';
import type { Service } from './process.ts';
import { operationOf, pages, steps } from './requests.ts';

/** A CPU profile of V8, as far as it is needed here. Times are in microseconds. */
interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

const times = 1000;

/** Writes `<request>.cpuprofile`, and prints the twenty functions that take most of the time that is not waiting. For what can be repeated. */
export async function profile(service: Service, name: string): Promise<void> {
  const step = [...pages, ...steps].find((step) => step.name === name);
  if (!step) {
    const known = [...pages, ...steps].map(({ name }) => `"${name}"`).join(', ');
    throw new Error(`--profile must name one of ${known}`);
  }
  const scene = await newSceneOf(service);
  // A vote needs a review to vote on.
  for (const before of steps.slice(0, Math.max(0, steps.indexOf(step)))) {
    const task = { operation: operationOf(before), events: [before.event(scene)] };
    const { answers } = await service.ask('call', task);
    check(before, scene, answers[0]);
  }
  const events = Array.from({ length: times }, () => step.event(scene));
  const task = { operation: operationOf(step), events };
  const { json, answers } = await service.ask('profile', task);
  for (const answer of answers) check(step, undefined, answer);
  const file = `${name.replaceAll(/[ ,]+/g, '-')}.cpuprofile`;
  writeFileSync(file, json);
  console.log(`${file}, of which:`);
  for (const line of top(JSON.parse(json), 20)) console.log(line);
}

function top({ nodes, samples, timeDeltas }: Profile, count: number): string[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, number>();
  let all = 0;
  for (const [i, id] of samples.entries()) {
    const { functionName = '', url = '', lineNumber = 0 } = frames.get(id) ?? {};
    if (['(idle)', '(program)', '(root)'].includes(functionName)) continue;
    const place = url.replace(/^.*\/(node_modules|bin|shared|functions)\//, '$1/');
    const name = `${functionName || '(anonymous)'} ${place}${place && `:${lineNumber + 1}`}`;
    const time = timeDeltas[i] ?? 0;
    times.set(name, (times.get(name) ?? 0) + time);
    all += time;
  }
  return [...times]
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([name, time]) => `${((100 * time) / all).toFixed(1).padStart(5)} %  ${name}`);
}
