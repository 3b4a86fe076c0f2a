import type { Service } from './process.ts';
import { newScene, operationOf, type Scene, type Step } from './requests.ts';
import type { Answer } from './service.ts';
import { type Cpu, quantile } from './table.ts';

/** What a request took of a service, round by round. */
export interface Taken {
  name: string;
  rounds: Cpu[];
}

/** The middle, the least and the most of some numbers. */
export interface Spread {
  median: number;
  low: number;
  high: number;
}

/**
 * Sends all steps to each of the services, round by round and in turn, so that what else the machine does falls on all alike. Gives for
 * each step what it took of each service.
 */
export async function measureCpu(
  services: readonly Service[],
  steps: readonly Step[],
  { rounds, each }: { rounds: number; each: number },
): Promise<Taken[][]> {
  const taken = steps.map(({ name }) => services.map((): Taken => ({ name, rounds: [] })));
  // The first round is for compilers and caches.
  for (let round = -1; round < rounds; round++) {
    const scenes: Scene[][] = [];
    for (const service of services) {
      const made: Scene[] = [];
      for (let i = 0; i <= each; i++) made.push(await newSceneOf(service, i));
      scenes.push(made);
    }
    for (const [s, step] of steps.entries()) {
      const operation = operationOf(step);
      const inTurn = [...services.entries()];
      if (round % 2 === 0) inTurn.reverse();
      for (const [i, service] of inTurn) {
        const [recorded, ...sent] = scenes[i] ?? [];
        if (!recorded) continue;
        const events = sent.map(step.event);
        const { cpu, answers } = await service.ask('call', { operation, events });
        for (const [at, answer] of answers.entries()) check(step, sent[at], answer);
        const event = step.event(recorded);
        const { floor, answer } = await service.ask('record', { operation, event });
        check(step, recorded, answer);
        if (round >= 0) taken[s]?.[i]?.rounds.push({ ...floor, cpu: cpu / events.length });
      }
    }
  }
  return taken;
}

/** Measures a request that can be repeated, five at a time. */
export function cpuOf(service: Service) {
  return async (operation: string, event: object, rounds: number): Promise<Cpu[]> => {
    const events = Array.from({ length: 5 }, () => event);
    const taken: Cpu[] = [];
    for (let round = 0; round < rounds; round++) {
      const { floor } = await service.ask('record', { operation, event });
      const { cpu } = await service.ask('call', { operation, events });
      taken.push({ ...floor, cpu: cpu / events.length });
    }
    return taken;
  };
}

/** A scene in the data of a service, with the reviews of a page of its own. */
export function newSceneOf(service: Service, page = 0): Promise<Scene> {
  const call = async (operation: string, event: object): Promise<Answer> => {
    const { answers } = await service.ask('call', { operation, events: [event] });
    return answers[0];
  };
  return newScene(page, call, (name) => service.ask('newCaller', { name }));
}

export function spreadOf(numbers: readonly number[]): Spread {
  return { median: quantile(numbers, 0.5), low: Math.min(...numbers), high: Math.max(...numbers) };
}

/** Throws when a step was refused that should not be, or the other way round; else lets the scene learn from the answer. */
export function check(step: Step, scene: Scene | undefined, answer: Answer): void {
  const isRefused = answer?.error !== undefined || (answer?.statusCode ?? 200) !== 200;
  if (isRefused !== Boolean(step.isRefused)) {
    throw new Error(`${step.name}: ${JSON.stringify(answer)}`);
  }
  if (scene && answer?.body) step.learn?.(scene, JSON.parse(answer.body));
}
