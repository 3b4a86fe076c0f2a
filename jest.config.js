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

/** @type {import('jest').Config} */
export default {
  testEnvironment: '<rootDir>/test/environment.ts',
  testPathIgnorePatterns: process.env.DYNAMODB_ENDPOINT ? withEngine : [],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
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
  setupFilesAfterEnv: ['<rootDir>/test/setup.ts'],
  testTimeout: 30_000,
  maxWorkers: '100%',
};
