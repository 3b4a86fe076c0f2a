import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { consumers } from '../../shared/background/consumers.ts';
import { schedulesOf } from '../../shared/background/schedules.ts';
import { readMailSettings } from '../../shared/notices/mailer.ts';
import { provideSite } from '../../shared/site/content.ts';
import { site } from '../../shared/site/site.ts';
import { dataFormat } from '../../shared/table/format.ts';
import { dataSettingsIn } from '../settings.ts';
import { readSiteFolder } from '../site/read.ts';
import { afterRestore, refusePartialRestore } from './backup.ts';
import { noteCommandsOf } from './changes.ts';
import { databaseFile, InUse, lockFolder, markFolder, unusable } from './data-folder.ts';
import { databaseEnvironment, startDatabase } from './database.ts';
import { announce, type Discovery, readDiscovery, retract } from './discovery.ts';
import { type Door, openDoor } from './door.ts';
import { refuseForeign } from './engine-records.ts';
import { expireItems, expirySchedule } from './expire.ts';
import { indexExpiry } from './expiry-index.ts';
import { startGateway } from './gateway.ts';
import { type HostOptions, readHost } from './host.ts';
import { loadFunction } from './invoke.ts';
import { type KeptUse, keepAnswers } from './kept-answers.ts';
import { followKeys } from './key-store.ts';
import type { Served } from './log.ts';
import { followClock } from './schedule.ts';
import { openSignInByMail, setUpSignIn } from './set-up-sign-in.ts';
import { followStream, type Stream } from './stream.ts';
import { addIndexes, createTable } from './table.ts';
import { skipSignatures } from './unsigned.ts';

/** In milliseconds, for a step of the stop. The gateway takes at most eight seconds. */
const patience = 8_500;

/** In milliseconds: the longest wait of a start for the consumers of the stream. */
const longestCatchUp = 1_000;

/**
 * Throws a sentence for the operator if reviews have a type that the service has no longer. Without
 * a setting, what has reviews is what this place is about.
 */
async function readReviewedTypes(): Promise<void> {
  const { readCounts } = await import('../../shared/review/review-list.ts');
  const { entityTypes, groupOf } = await import('../../shared/entity/entity-type.ts');
  const { shownGroups } = await import('../../shared/entity/shown-groups.ts');
  const types = [...(await readCounts()).keys()];
  const missing = types.find((type) => !entityTypes.includes(type));
  if (missing === undefined) {
    process.env.SHOWN_GROUPS ||= [...shownGroups(new Set(types.map(groupOf))).keys()].join();
    return;
  }
  throw new Error(
    `there are reviews of the type ${missing}, which OWN_TYPES does not have: add it again, for example OWN_TYPES=${missing}:Name`,
  );
}

/** Steps that end what was started, in the order of the start. */
type Undo = (() => unknown)[];

export interface Stack {
  /** The public base URL. */
  url: string;
  /** The origin that a proxy on this machine connects to. */
  local: string;
  /** The address of the metrics, if they are served. */
  metricsUrl: string | undefined;
  endpoint: string;
  /** Has `stack.json`. A temporary folder if `dataDir` is in use and the data is in memory. */
  dataDir: string;
  stream: Stream;
  /** Anyone signs in by any name, as in a demonstration. */
  takesNames: boolean;
  /** Sentences about an upgrade of the data folder. */
  upgrade: string[];
  /** Resolves with a sentence if the stack cannot continue. */
  failure: Promise<string>;
  /** Answers the requests in flight, then ends everything that it started. */
  stop(): Promise<void>;
}

const guessable =
  'This system has one loopback address. A web page in a browser of this machine could find the database there: open only pages that you trust while the service runs.';

/**
 * Starts everything or nothing. Throws a sentence for the user. Import no function before this
 * call, because it sets the environment variables that functions read. `memory` keeps the data for
 * this run only. `dynamodbEndpoint` or DYNAMODB_ENDPOINT replaces the embedded engine.
 */
export async function startStack(
  options: HostOptions & {
    port: number;
    dataDir: string;
    /** The port, if it is open already. Requests wait there until everything is ready. */
    door?: Promise<Door>;
    memory?: boolean;
    dynamodbEndpoint?: string;
    /** Path of the embedded engine's program, by default that of the package for this machine. */
    engine?: string;
    /** A fixed port for the embedded engine, so that a firewall can guard it. */
    enginePort?: number;
    /** A port for the metrics. Without it they are not served. */
    metricsPort?: number;
    /** The address for the metrics, by default one that only this machine reaches. */
    metricsHost?: string;
    /** Megabytes of memory for public answers that are still true, by default 64. 0 keeps none. */
    keptAnswers?: number;
    log?: (served: Served) => void;
  },
): Promise<Stack> {
  const { memory = false, keptAnswers = 64, log } = options;
  const dynamodbEndpoint = options.dynamodbEndpoint || process.env.DYNAMODB_ENDPOINT || undefined;
  if (dynamodbEndpoint && !/^https?:$/.test(URL.parse(dynamodbEndpoint)?.protocol ?? '')) {
    throw new Error(
      `DYNAMODB_ENDPOINT ${dynamodbEndpoint} is not a URL: set it to one such as http://localhost:8000`,
    );
  }
  readOwnSite();
  const mail = readMailSettings(process.env);
  const host = readHost({ ...options, hasMail: mail !== undefined });
  const undo: Undo = [];
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= undoAll(undo);
    return stopped;
  };
  try {
    const temporary = memory ? temporaryFolder(undo) : undefined;
    const dataDir = hold(resolve(options.dataDir), undo, temporary);
    const door = await (options.door ?? openDoor({ port: options.port, host: host.host }));
    undo.push(door.close);
    await endLeftover(dataDir);
    if (!memory && dynamodbEndpoint === undefined) refusePartialRestore(dataDir);
    const upgrade = memory ? [] : markFolder(dataDir);
    const discovery: Discovery = {
      pid: process.pid,
      engine_pid: null,
      url: null,
      identity_provider: null,
      dynamodb_endpoint: null,
      table_name: process.env.TABLE_NAME || 'reviews',
      data_format: dataFormat,
      settings: dataSettingsIn(process.env),
    };
    announce(dataDir, discovery);
    undo.push(() => retract(dataDir));
    undo.push(followKeys(dataDir));
    process.env.WEBHOOK_ALLOW = host.webhookAllow;

    let file: string | undefined;
    let failure = new Promise<string>(() => {});
    let endpoint = dynamodbEndpoint;
    if (endpoint === undefined) {
      file = join(temporary ?? dataDir, databaseFile);
      refuseForeign(file);
      const { engine, enginePort: port } = options;
      const database = await startDatabase({ engine, file, temporary, port });
      undo.push(database.stop);
      if (database.isGuessable) console.error(guessable);
      ({ endpoint, failure, pid: discovery.engine_pid } = database);
    }
    discovery.dynamodb_endpoint = endpoint;
    announce(dataDir, discovery);

    const { streamArn, missing } = await createTable(endpoint, discovery.table_name);
    Object.assign(process.env, databaseEnvironment(endpoint, discovery.table_name));
    // Imported here because the environment now has the address of the table.
    const { table } = await import('../../shared/table/client.ts');
    if (file !== undefined) skipSignatures(table);
    const { hasFormerNodes } = await import('../../shared/aggregates/rebuild.ts');
    const { copySums } = await import('../../shared/aggregates/sums.ts');
    const { beginEpoch } = await import('../../shared/changes/log.ts');
    const { buildThings } = await import('../../shared/things/rebuild-things.ts');
    if (missing.length > 0 || (await hasFormerNodes())) {
      console.error('Upgrading the data: about a minute for 30,000 reviews.');
      const { upgradeTable } = await import('../../shared/transfer/upgrade.ts');
      await upgradeTable();
      // Last, because they tell the next start that the upgrade is complete.
      await addIndexes(endpoint, discovery.table_name, missing);
    }
    // A table of older code has no sums, and older code changes totals without them.
    await copySums();
    await readReviewedTypes();
    await buildThings();
    if (file !== undefined) {
      indexExpiry(file, discovery.table_name);
      await afterRestore(dataDir, beginEpoch);
    }

    // Stopped in parallel, so that new requests are refused while a job or a batch finishes.
    const workers: Undo = [];
    undo.push(() => Promise.all(workers.map((stopWorker) => stopWorker())));
    const stream = await followStream({ endpoint, streamArn, consumers, load: loadFunction, file });
    workers.push(stream.stop);
    const mostBytes = keptAnswers * 1024 * 1024;
    const { changes } = stream;
    const kept = changes && mostBytes > 0 ? keepAnswers({ changes, mostBytes }) : undefined;
    if (kept) noteCommandsOf(table);
    const metrics = await startMetrics(options, { file, kept: kept?.use });
    if (metrics) undo.push(metrics.stop);
    const gateway = await startGateway({
      ...host,
      port: door.port,
      door,
      load: loadFunction,
      kept,
      log: metrics ? inBoth(metrics.count, log) : log,
    });
    workers.push(gateway.stop);
    const byMail = options.oidcIssuer ? undefined : openSignInByMail(dataDir, mail, host.isLaptop);
    if (byMail) undo.push(byMail.pending.close);
    discovery.identity_provider = await setUpSignIn(gateway, options.oidcIssuer, byMail);
    const sweeps = new AbortController();
    // Another database expires items itself.
    const sweep = file === undefined ? undefined : () => expireItems(file, sweeps.signal);
    const own = schedulesOf({ isMailing: mail !== undefined });
    const jobs = sweep ? [...own, expirySchedule] : own;
    const loadJob = async (operation: string) =>
      sweep && operation === expirySchedule.operation ? sweep : loadFunction(operation);
    const clock = followClock(jobs, loadJob, stream.version);
    workers.push(() => sweeps.abort(), clock.stop);
    // Else the service would still seem to have stopped with its last run. Webhooks take longer.
    const ready = clock.begun.then(() => stream.idle());
    await Promise.race([ready, sleep(longestCatchUp, undefined, { ref: false })]);
    gateway.begin();

    announce(dataDir, { ...discovery, url: gateway.url });
    const { url, local } = gateway;
    const metricsUrl = metrics?.url;
    const takesNames = !options.oidcIssuer && mail === undefined;
    return {
      url,
      local,
      metricsUrl,
      endpoint,
      dataDir,
      stream,
      takesNames,
      upgrade,
      failure,
      stop,
    };
  } catch (error) {
    await stop();
    // Only file errors have a path.
    throw (error as NodeJS.ErrnoException).path ? unusable(options.dataDir, error as Error) : error;
  }
}

/** Reads the settings and the folder of the site, before anything shows them. */
function readOwnSite(): void {
  const folder = process.env.SITE_FOLDER;
  if (folder) {
    const { content, settings } = readSiteFolder(folder);
    Object.assign(process.env, settings);
    provideSite(content);
  }
  site();
}

/** Serves metrics if a port is given. Loaded here, because most services have none. */
async function startMetrics(
  { metricsPort, metricsHost = '127.0.0.1' }: { metricsPort?: number; metricsHost?: string },
  service: { file: string | undefined; kept: Readonly<KeptUse> | undefined },
) {
  if (metricsPort === undefined) return undefined;
  const { serveMetrics } = await import('./metrics.ts');
  return serveMetrics({ port: metricsPort, host: metricsHost, ...service });
}

function inBoth(count: (served: Served) => void, log: (served: Served) => void = () => {}) {
  return (served: Served) => {
    count(served);
    log(served);
  };
}

/** Runs every step in reverse order, even if an earlier step hangs or fails. */
async function undoAll(steps: Undo) {
  for (const step of steps.toReversed()) {
    const over = new AbortController();
    try {
      await Promise.race([step(), sleep(patience, undefined, over)]);
    } catch (error) {
      console.error('error while stopping:', error);
    } finally {
      over.abort();
    }
  }
}

/** Locks and returns `dataDir`, or `temporary` if another stack uses `dataDir`. */
function hold(dataDir: string, undo: Undo, temporary?: string) {
  try {
    undo.push(lockFolder(dataDir));
    return dataDir;
  } catch (error) {
    if (!(error instanceof InUse) || temporary === undefined) throw error;
    undo.push(lockFolder(temporary));
    return temporary;
  }
}

/** Ends an engine that outlived its stack. Two engines on one file would not notice each other. */
async function endLeftover(dataDir: string) {
  const pid = readDiscovery(dataDir)?.engine_pid;
  const isOurs = () => {
    const commandLine = pid ? `/proc/${pid}/cmdline` : '';
    if (!existsSync(commandLine)) return false;
    const words = readFileSync(commandLine, 'utf8').split('\0');
    return words[0]?.endsWith('dynoxide') && words.includes(join(dataDir, databaseFile));
  };
  for (let i = 0; pid && isOurs(); i++) {
    process.kill(pid, i < 40 ? 'SIGTERM' : 'SIGKILL');
    await sleep(50);
  }
}

/** In memory if the system can. The database needs a file, or its stream records would pile up. */
function temporaryFolder(undo: Undo) {
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const folder = mkdtempSync(join(parent, 'review-service-'));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
