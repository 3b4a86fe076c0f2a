import { resolve } from 'node:path';
import { openDoor } from '../infra/local/gateway/door.ts';
import { jsonLine, readable, requestLine, type Served } from '../infra/local/gateway/log.ts';
import { refuseUnknownTypes } from '../shared/core/entity/picture.ts';
import { command, optionalSettings, optionOf } from './start/options.ts';

// An empty variable, for example from a line of a .env file, counts as unset.
for (const [name, value] of Object.entries(process.env)) {
  if (value?.trim() === '') delete process.env[name];
}

refuseWhatNpmKept();
const { demo: isDemo, log, quiet, verbose, ...options } = command.parse().opts();
const { dataDir, memory, dynamodbEndpoint } = options;
// Functions read them, however they were set.
for (const name of optionalSettings) {
  const value = options[optionOf(name).attributeName()];
  if (value === undefined) delete process.env[name];
  else process.env[name] = `${value}`;
}
// The demo has things of all groups.
if (isDemo) process.env.SHOWN_GROUPS ??= 'own,musicdb,bookdb';
try {
  refuseUnknownTypes(options.images ?? '', options.ownTypes ?? '');
} catch (error) {
  fail(error);
}
if (isDemo && options.members) {
  fail('--demo makes members of its own, whom MEMBERS does not let in: leave out one of the two');
}
if (memory && dynamodbEndpoint) {
  fail(
    '--memory works with the database in this process only: remove it, or unset DYNAMODB_ENDPOINT',
  );
}

/**
 * Refuses options that npm has taken. `npm start --port 3001` sets an option of npm and leaves
 * `3001` as the only argument. The values of several such options cannot be assigned.
 */
function refuseWhatNpmKept(): void {
  const left = process.argv.slice(2);
  const only = left.length === 1 ? left : ['…'];
  const meant = command.options.flatMap(({ long, required }) => {
    const value = process.env[`npm_config_${long?.slice(2).replaceAll('-', '_')}`];
    if (!long || !value || left.includes(long)) return [];
    if (!required) return [long];
    return value === 'true' ? [long, ...only] : [long, value];
  });
  if (meant.length > 0) {
    fail(`npm takes ${meant[0]} as its own option. Type: npm start -- ${meant.join(' ')}`);
  }
}

/** Says which databases name things. Without one, people do. */
function sourcesOfNames(): string {
  const sources = Object.entries({ MUSICDB: 'music', BOOKDB: 'books' }).map(([prefix, subject]) => {
    const { [`${prefix}_API`]: api, [`${prefix}_PAGE`]: page } = process.env;
    const host = api && page ? URL.parse(page)?.host : undefined;
    return host ? `${subject} from ${host}` : `${subject} by those who review them`;
  });
  return sources.join(', ');
}

function fail(reason: unknown): never {
  console.error(`Error: ${reason instanceof Error ? reason.message : reason}`);
  process.exit(1);
}

// Functions log objects, which CloudWatch needs. Here they are printed as text.
for (const level of ['info', 'warn', 'error'] as const) {
  const print = console[level];
  console[level] = (...entries) => print(...entries.map(readable));
}
// A closed log, for example after `| head`, must not stop the service.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
process.on('unhandledRejection', (reason) => console.error('unhandled:', reason));

const { OIDC_ISSUER: oidcIssuer } = process.env;
// The port opens before the rest is loaded, so that clients wait and are not refused.
const door = openDoor({ port: options.port, host: options.host });
// The stack reports it, after other problems.
door.catch(() => {});
const { startStack } = await import('../infra/local/stack.ts');
const logRequest = (served: Served) =>
  console.log(log === 'json' ? jsonLine(served) : requestLine(served, verbose));
const starting = startStack({
  ...options,
  door,
  port: options.port,
  dataDir,
  oidcIssuer,
  log: quiet ? undefined : logRequest,
});

let signalled: number | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, async () => {
    // npm repeats the Ctrl-C that the terminal has also sent here. Both count as one signal.
    if (signalled !== undefined && Date.now() - signalled > 500) process.exit(130);
    if (signalled !== undefined) return;
    signalled = Date.now();
    const stack = await starting.catch(() => undefined);
    await stack?.stop();
    process.exit(0);
  });
}

try {
  const stack = await starting;
  const proxied = options.publicUrl ? `\n  Proxy  to ${stack.local}` : '';
  const metrics = stack.metricsUrl ? `\n  Watch  ${stack.metricsUrl}` : '';
  const isElsewhere = stack.dataDir !== resolve(dataDir);
  const memoryOnly = `in memory until it stops${isElsewhere ? `; --data-dir ${stack.dataDir}` : ''}`;
  for (const sentence of stack.upgrade) console.error(sentence);
  const demo = isDemo ? await (await import('./demo.ts')).planDemo(stack) : undefined;
  const banner = `The review service runs at ${stack.url}

  Open   ${new URL('.', stack.url)}
  Try    curl ${demo?.example ?? `${stack.url}/review/languages`}${proxied}
  Data   ${dynamodbEndpoint ?? (memory ? memoryOnly : dataDir)}${metrics}
  Names  ${sourcesOfNames()}
${demo ? `  Demo   ${demo.notice}\n` : ''}  Stop   Ctrl-C
`;
  if (log === 'json') {
    const time = new Date().toISOString();
    const { url, metricsUrl: metrics_url } = stack;
    console.log(JSON.stringify({ time, message: 'started', url, metrics_url }));
  } else {
    console.log(banner);
  }
  if (demo?.fill) console.log(await demo.fill());
} catch (error) {
  // A stop ends the demo's import with an error. The next start with --demo continues.
  if (signalled === undefined) fail(error);
}
