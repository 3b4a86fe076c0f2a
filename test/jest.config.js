import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import vm from 'node:vm';
import { refresh } from '../bin/generated.cjs';

// An editor that starts Jest directly uses the Node.js of this machine. Every file then fails with
// an unclear error.
if (Number.parseInt(process.versions.node, 10) < 24 || !vm.SourceTextModule) {
  throw new Error(
    `These tests need Node.js 24 with --experimental-vm-modules, and this is ${process.version}: run them by "npm test", which has both`,
  );
}

refresh();

// Holds the output that test files of one run share.
const folder = mkdtempSync(join(tmpdir(), 'review-service-run-'));
process.env.RUN_FOLDER = folder;
// Node.js keeps compiled code here, for the commands that tests start repeatedly.
process.env.NODE_COMPILE_CACHE = join(folder, 'compiled');
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

// These tests are about SQLite, or kill a service on it.
const ofSqlite = [
  'test/bench-cpu',
  'test/infra/local/(stack|storage/(expire|former-database|stream))',
  'test/journeys/(durability|mirror|outage|widest)',
  'test/shared/base/table/(differential|sqlite)',
];

const rootDir = join(import.meta.dirname, '..');

const jsc = {
  target: 'es2024',
  parser: { syntax: 'typescript' },
  experimental: { keepImportAttributes: true },
};

/** @type {import('jest').Config} */
const project = {
  rootDir,
  testEnvironment: '<rootDir>/test/helpers/environment.ts',
  testPathIgnorePatterns: process.env.DYNAMODB_ENDPOINT ? ofSqlite : [],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': ['@swc/jest', { jsc }] },
  setupFilesAfterEnv: ['<rootDir>/test/helpers/setup.ts'],
};

/** @type {import('jest').Config} */
export default {
  rootDir,
  maxWorkers: '100%',
  // Jest keeps the modules of every test file, so a worker's memory grows. To search 2 GB for
  // garbage costs more CPU than to begin a new worker.
  workerIdleMemoryLimit: '700MB',
  // Against a test that hangs. On a busy machine the longest take two minutes.
  testTimeout: 300_000,
  projects: [
    { ...project, displayName: 'fast', testMatch: ['<rootDir>/test/**/*.test.ts'] },
    // Whole programs, the code as deployed, random histories and long lists. Also a browser:
    // Debian's chromium, or the one named by CHROMIUM.
    { ...project, displayName: 'slow', testMatch: ['<rootDir>/test/**/*.slow.ts'] },
  ],
};
