import vm from 'node:vm';
import type { Circus } from '@jest/types';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest's Node.js environment with a plain global object. Jest wraps the global in a proxy to find
 * leaks of tests. Each mention of `Array` or `Object` then passes the proxy, which takes the AWS
 * SDK as long as its own work.
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
    // Code reads these as soon as it is loaded. A test file sets them in its first comment:
    // @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}}
    const { variables } = settings[0].projectConfig.testEnvironmentOptions;
    Object.assign(this.global.process.env, variables);
    if (this.context !== this.global) throw new Error('Jest makes its global object otherwise now');
  }

  /**
   * Records ten frames of an error's stack, as Node.js does, instead of a hundred. The service
   * throws many errors that it expects.
   */
  override async setup(): Promise<void> {
    await super.setup();
    for (const realm of [globalThis, this.global]) realm.Error.stackTraceLimit = 10;
  }

  /**
   * Runs the `afterAll` hooks of a file or block if `-t` chooses none of its tests. Jest skips its
   * hooks then, and waits for ever for open servers.
   */
  async handleTestEvent(event: Circus.Event): Promise<void> {
    if (event.name !== 'run_describe_finish' || hasRun(event.describeBlock)) return;
    const { hooks } = event.describeBlock;
    // A block with a `beforeAll` hook has started nothing.
    if (hooks.some(({ type }) => type === 'beforeAll')) return;
    for (const { type, fn } of hooks) if (type === 'afterAll') await (fn as () => unknown)();
  }
}

function hasRun(entry: Circus.DescribeBlock | Circus.TestEntry): boolean {
  return entry.type === 'test' ? entry.status !== 'skip' : entry.children.some(hasRun);
}
