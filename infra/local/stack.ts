import { setTimeout as sleep } from 'node:timers/promises';
import { provideSite } from '../../shared/base/site/content.ts';
import { site } from '../../shared/base/site/site.ts';
import { tableName } from '../../shared/base/table/client.ts';
import { dataFormat } from '../../shared/base/table/format.ts';
import { copySums } from '../../shared/core/aggregates/sums.ts';
import { entityTypes } from '../../shared/core/entity/entity-type.ts';
import { readCounts } from '../../shared/core/review/review-list.ts';
import { consumers, schedulesOf } from '../../shared/features/background.ts';
import { beginEpoch } from '../../shared/features/changes/public.ts';
import { type MailSettings, readMailSettings } from '../../shared/features/notices/public.ts';
import { buildThings } from '../../shared/features/things/public.ts';
import { dataSettingsIn } from '../settings.ts';
import { readSiteFolder } from '../site/read.ts';
import { type Door, openDoor } from './gateway/door.ts';
import { startGateway } from './gateway/gateway.ts';
import { type HostOptions, readHost } from './gateway/host.ts';
import { keepAnswers } from './gateway/kept-answers.ts';
import type { Served } from './gateway/log.ts';
import { loadFunction } from './invoke.ts';
import { followClock } from './schedule.ts';
import { defaultMailLimits, type MailLimits } from './sign-in/mail-limits.ts';
import { openSignInByMail, setUpSignIn } from './sign-in/set-up-sign-in.ts';
import { afterRestore, refusePartialRestore } from './storage/backup.ts';
import { markFolder, unusable } from './storage/data-folder.ts';
import { announce, type Discovery, retract } from './storage/discovery.ts';
import { expirySchedule } from './storage/expire.ts';
import { checkFormerDatabase, hasFormerDatabase } from './storage/former-database.ts';
import { followKeys } from './storage/key-store.ts';
import { openFolder } from './storage/open-folder.ts';
import { openTable, type Table } from './storage/open-table.ts';
import { followStream, type Stream } from './storage/stream.ts';
import { type Undo, undoAll } from './undo.ts';
import { followMailServer } from './watch/follow-mail-server.ts';
import { followProvider } from './watch/follow-provider.ts';

/** In milliseconds: the longest wait of a start for the consumers of the stream. */
const longestCatchUp = 1_000;

/** Throws a sentence for the operator if reviews have a type that the service has no longer. */
async function refuseMissingTypes(): Promise<void> {
  const types = [...(await readCounts()).keys()];
  const missing = types.find((type) => !entityTypes.includes(type));
  if (missing === undefined) return;
  throw new Error(
    `there are reviews of the type ${missing}, which OWN_TYPES does not have: add it again, for example OWN_TYPES=${missing}:Name`,
  );
}

export interface Stack {
  /** The public base URL. */
  url: string;
  /** The origin that a proxy on this machine connects to. */
  local: string;
  /** The address of the metrics, if they are served. */
  metricsUrl: string | undefined;
  /** Has `stack.json`. A temporary folder if `dataDir` is in use and the data is in memory. */
  dataDir: string;
  stream: Stream;
  /** Anyone signs in by any name, as in a demonstration. */
  takesNames: boolean;
  /** Sentences about an upgrade of the data folder. */
  upgrade: string[];
  /** Answers the requests in flight, then ends everything that it started. */
  stop(): Promise<void>;
}

interface StackOptions extends HostOptions {
  port: number;
  dataDir: string;
  /** The port, if it is open already. Requests wait there until everything is ready. */
  door?: Promise<Door>;
  /** Keeps the data for this run only. */
  memory?: boolean;
  /** A DynamoDB in place of the database in this process. DYNAMODB_ENDPOINT sets it as well. */
  dynamodbEndpoint?: string;
  /** A port for the metrics. Without it they are not served. */
  metricsPort?: number;
  /** The address for the metrics, by default one that only this machine reaches. */
  metricsHost?: string;
  log?: (served: Served) => void;
  /** Mails for sign-ins in an hour, in all and for one client address. */
  signInMails?: number;
  signInMailsPerClient?: number;
}

/** Starts everything or nothing. Throws a sentence for the user. */
export async function startStack(options: StackOptions): Promise<Stack> {
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
    const { dataDir, temporary } = openFolder(options.dataDir, options.memory ?? false, undo);
    const door = await (options.door ?? openDoor({ port: options.port, host: host.host }));
    undo.push(door.close);
    const endpoint = endpointOf(options);
    // Before the folder gets keys, or is marked as one that older code cannot use.
    if (temporary === undefined && endpoint === undefined) refuseUnready(dataDir);
    const upgrade = options.memory ? [] : markFolder(dataDir);
    const discovery = discover(dataDir, mail !== undefined);
    undo.push(() => retract(dataDir));
    undo.push(followKeys(dataDir));
    process.env.WEBHOOK_ALLOW = host.webhookAllow;
    const table = await openTable(endpoint, { dataDir, temporary }, undo);
    discovery.dynamodb_endpoint = table.endpoint ?? null;
    if (table.endpoint === undefined) discovery.database = table.file ?? null;
    announce(dataDir, discovery);
    await prepareData(dataDir);
    const served = await serve({ options, host, mail, dataDir, door, table }, undo);
    const { url, identity_provider } = served;
    announce(dataDir, { ...discovery, url, identity_provider });
    const takesNames = !options.oidcIssuer && mail === undefined;
    const { local, metricsUrl, stream } = served;
    return { url, local, metricsUrl, dataDir, stream, takesNames, upgrade, stop };
  } catch (error) {
    await stop();
    // Only file errors have a path.
    throw (error as NodeJS.ErrnoException).path ? unusable(options.dataDir, error as Error) : error;
  }
}

/** The parts that are open before the service answers. */
interface Opened {
  options: StackOptions;
  host: ReturnType<typeof readHost>;
  mail: MailSettings | undefined;
  dataDir: string;
  door: Door;
  table: Table;
}

/** Follows changes, opens the gateway and the sign-in, and starts the jobs. */
async function serve({ options, host, mail, dataDir, door, table }: Opened, undo: Undo) {
  // Stopped in parallel, so that new requests are refused while a job or a batch finishes.
  const workers: Undo = [];
  undo.push(() => Promise.all(workers.map((stopWorker) => stopWorker())));
  const { source } = table;
  const stream = await followStream({ source, consumers, load: loadFunction });
  workers.push(stream.stop);
  const metrics = await startMetrics(options, table.file);
  if (metrics) undo.push(metrics.stop);
  const gateway = await startGateway({
    ...host,
    port: door.port,
    door,
    load: loadFunction,
    // Only the database in this process tells its version.
    kept: table.endpoint === undefined ? keepAnswers(source.version) : undefined,
    log: metrics ? inBoth(metrics.count, options.log) : options.log,
  });
  workers.push(gateway.stop);
  const byMail = options.oidcIssuer
    ? undefined
    : openSignInByMail(dataDir, mail, { isLaptop: host.isLaptop, limits: mailLimitsOf(options) });
  if (byMail) undo.push(byMail.steps.close);
  const identity_provider = await setUpSignIn(gateway, options.oidcIssuer, byMail);
  const clock = followJobs(table, { isMailing: mail !== undefined });
  workers.push(clock.stop);
  // Else the service would still seem to have stopped with its last run. Webhooks take longer.
  const ready = clock.begun.then(() => stream.idle());
  await Promise.race([ready, sleep(longestCatchUp, undefined, { ref: false })]);
  gateway.begin();
  if (options.oidcIssuer) workers.push(followProvider());
  if (mail) workers.push(followMailServer(mail));
  const { url, local } = gateway;
  return { url, local, metricsUrl: metrics?.url, stream, identity_provider };
}

/** Throws a sentence if the data needs a step of the operator before it can be used. */
function refuseUnready(dataDir: string): void {
  refusePartialRestore(dataDir);
  if (hasFormerDatabase(dataDir)) checkFormerDatabase(dataDir, tableName());
}

/** Announces that this process has the folder, and returns what is told so far. */
function discover(dataDir: string, hasMailServer: boolean): Discovery {
  const discovery: Discovery = {
    pid: process.pid,
    url: null,
    identity_provider: null,
    database: null,
    has_mail_server: hasMailServer,
    dynamodb_endpoint: null,
    table_name: tableName(),
    data_format: dataFormat,
    settings: dataSettingsIn(process.env),
  };
  announce(dataDir, discovery);
  return discovery;
}

function endpointOf(options: StackOptions): string | undefined {
  const endpoint = options.dynamodbEndpoint || process.env.DYNAMODB_ENDPOINT || undefined;
  if (endpoint && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
    throw new Error(
      `DYNAMODB_ENDPOINT ${endpoint} is not a URL: set it to one such as http://localhost:8000`,
    );
  }
  return endpoint;
}

function mailLimitsOf({ signInMails, signInMailsPerClient }: StackOptions): MailLimits {
  return {
    total: signInMails ?? defaultMailLimits.total,
    perClient: signInMailsPerClient ?? defaultMailLimits.perClient,
  };
}

/** Adds what the data of older code lacks, and refuses data that needs another setting. */
async function prepareData(dataDir: string): Promise<void> {
  // A table of older code has no sums, and older code changes totals without them.
  await copySums();
  await refuseMissingTypes();
  await buildThings();
  await afterRestore(dataDir, beginEpoch);
}

function followJobs({ source, sweep }: Table, { isMailing }: { isMailing: boolean }) {
  const sweeps = new AbortController();
  const own = schedulesOf({ isMailing });
  const jobs = sweep ? [...own, expirySchedule] : own;
  const load = async (operation: string) =>
    sweep && operation === expirySchedule.operation
      ? () => sweep(sweeps.signal)
      : loadFunction(operation);
  const clock = followClock(jobs, load, source.version);
  return {
    begun: clock.begun,
    stop() {
      sweeps.abort();
      return clock.stop();
    },
  };
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
  { metricsPort, metricsHost = '127.0.0.1' }: StackOptions,
  file: string | undefined,
) {
  if (metricsPort === undefined) return undefined;
  const { serveMetrics } = await import('./watch/metrics.ts');
  return serveMetrics({ port: metricsPort, host: metricsHost, file });
}

function inBoth(count: (served: Served) => void, log: (served: Served) => void = () => {}) {
  return (served: Served) => {
    count(served);
    log(served);
  };
}
