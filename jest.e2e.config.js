import quick from './jest.config.js';

/** What takes longer: whole programs, the code as it is deployed, random histories, long lists; and a browser, Debian's chromium or the one that CHROMIUM names. */
export default {
  ...quick,
  testMatch: ['<rootDir>/test/**/*.e2e.ts'],
  testTimeout: 120_000,
};
