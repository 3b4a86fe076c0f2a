import vm from 'node:vm';
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
}
