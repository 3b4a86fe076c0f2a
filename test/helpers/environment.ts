import vm from 'node:vm';
import type { Circus } from '@jest/types';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest's own, but for a plain global object. Jest puts a proxy behind it, to find what tests leave there: every mention of `Array` or
 * `Object` goes through that, which took the AWS SDK as long as its work.
 */
export default class PlainEnvironment extends TestEnvironment {
  constructor(...settings: ConstructorParameters<typeof TestEnvironment>) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...settings);
    } finally {
      vm.createContext = createContext;
    }
    if (this.context !== this.global) throw new Error('Jest makes its global object otherwise now');
  }

  /** Notes ten calls of an error, as Node.js does, and not a hundred: the service meets many that it expects. */
  override async setup(): Promise<void> {
    await super.setup();
    for (const realm of [globalThis, this.global]) realm.Error.stackTraceLimit = 10;
  }

  /** Ends what a file or block has started although `-t` chooses none of its tests: Jest calls no hook then, and would wait for that for ever. */
  async handleTestEvent(event: Circus.Event): Promise<void> {
    if (event.name !== 'run_describe_finish' || hasRun(event.describeBlock)) return;
    const { hooks } = event.describeBlock;
    // What has a beforeAll has started nothing.
    if (hooks.some(({ type }) => type === 'beforeAll')) return;
    for (const { type, fn } of hooks) if (type === 'afterAll') await (fn as () => unknown)();
  }
}

function hasRun(entry: Circus.DescribeBlock | Circus.TestEntry): boolean {
  return entry.type === 'test' ? entry.status !== 'skip' : entry.children.some(hasRun);
}
