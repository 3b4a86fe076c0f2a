import type * as jestGlobals from '@jest/globals';

declare module 'expect' {
  interface Matchers<R> {
    /** Expects an answer with this status, or an ApiError. A failure shows all of it. */
    toHaveStatus(status: number): R;
  }
}

// The functions of Jest are global in each test file.
declare global {
  const afterAll: typeof jestGlobals.afterAll;
  const afterEach: typeof jestGlobals.afterEach;
  const beforeAll: typeof jestGlobals.beforeAll;
  const beforeEach: typeof jestGlobals.beforeEach;
  const describe: typeof jestGlobals.describe;
  const expect: typeof jestGlobals.expect;
  const jest: typeof jestGlobals.jest;
  const test: typeof jestGlobals.test;
  namespace jest {
    type SpiedFunction<T extends (...all: never[]) => unknown> = jestGlobals.jest.SpiedFunction<T>;
  }
}
