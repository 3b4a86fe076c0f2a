import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import vm from 'node:vm';

// An editor that starts Jest by itself takes the Node.js of this machine, and fails in every file with another riddle.
if (Number.parseInt(process.versions.node, 10) < 24 || !vm.SourceTextModule) {
  throw new Error(
    `These tests need Node.js 24 with --experimental-vm-modules, and this is ${process.version}: run them by "npm test", which has both`,
  );
}

// For what test files of one run share.
const folder = mkdtempSync(join(tmpdir(), 'review-service-run-'));
process.env.RUN_FOLDER = folder;
// Node.js keeps there what it has compiled, for the commands that tests start again and again.
process.env.NODE_COMPILE_CACHE = join(folder, 'compiled');
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

// These look at the embedded database itself, or kill one.
const withEngine = ['test/infra/local/(stack|stream)', 'test/journeys/(durability|mirror|outage)'];

const rootDir = join(import.meta.dirname, '..');

/** @type {import('jest').Config} */
const project = {
  rootDir,
  testEnvironment: '<rootDir>/test/helpers/environment.ts',
  testPathIgnorePatterns: process.env.DYNAMODB_ENDPOINT ? withEngine : [],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2024',
          parser: { syntax: 'typescript' },
          experimental: { keepImportAttributes: true },
        },
      },
    ],
  },
  setupFilesAfterEnv: ['<rootDir>/test/helpers/setup.ts'],
};

/** @type {import('jest').Config} */
export default {
  rootDir,
  maxWorkers: '100%',
  testTimeout: 120_000,
  projects: [
    {
      ...project,
      displayName: 'fast',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
    },
    // Whole programs, the code as it is deployed, random histories, long lists; and a browser, Debian's chromium or the one that CHROMIUM names.
    {
      ...project,
      displayName: 'slow',
      testMatch: ['<rootDir>/test/**/*.slow.ts'],
    },
  ],
};
