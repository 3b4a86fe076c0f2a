import unit from './jest.config.js';

/** What is seen in a browser: Debian's chromium, or the one that CHROMIUM names. */
export default {
  ...unit,
  testMatch: ['<rootDir>/test/e2e/**/*.e2e.ts'],
  setupFilesAfterEnv: [],
  testTimeout: 120_000,
};
