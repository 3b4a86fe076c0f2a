import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';

/** In milliseconds, between two checkpoints. */
const interval = 1_000;

const database = new DatabaseSync(workerData.file, { timeout: 0 });
const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
setInterval(() => checkpoint.get(), interval);
