import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { openDoor } from '../infra/local/door.ts';
import { jsonLine, readable, requestLine, type Served } from '../infra/local/log.ts';
import { ownTypesIn } from '../shared/entity/own-types.ts';
import { readPictureHosts, readPictures } from '../shared/entity/picture.ts';

// An empty variable, for example from a line of a .env file, counts as unset.
for (const [name, value] of Object.entries(process.env)) {
  if (value?.trim() === '') delete process.env[name];
}

const command = new Command('npm start --')
  .description('Runs the review service on this machine.')
  .addOption(
    new Option('--port <number>', 'the port to listen on')
      .env('PORT')
      .default(3000)
      .argParser(port),
  )
  .option(
    '--host <address>',
    'the address to listen on; 0.0.0.0 is all addresses. An address that other machines reach needs OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET',
    '127.0.0.1',
  )
  .addOption(
    new Option(
      '--public-url <url>',
      'the HTTPS address of the proxy in front, such as https://reviews.example.org. In an address with a path, such as https://example.org/reviews, the proxy passes the path on. Needs OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET',
    ).env('PUBLIC_URL'),
  )
  .addOption(
    new Option(
      '--trusted-proxies <list>',
      'IP addresses and ranges of proxies whose X-Forwarded-Proto and X-Forwarded-For are trusted, such as 172.16.0.0/12; this machine is always trusted',
    ).env('TRUSTED_PROXIES'),
  )
  .option(
    '--insecure-sign-in',
    'for a demonstration with --public-url or --host: anyone can sign in as anybody',
  )
  .addOption(
    new Option(
      '--security-contact <contact>',
      'an e-mail address or URL for /.well-known/security.txt',
    ).env('SECURITY_CONTACT'),
  )
  .addOption(
    new Option(
      '--publications-per-day <number>',
      'new reviews and drafts of an account in a day (UTC); 0 is no limit',
    )
      .env('PUBLICATIONS_PER_DAY')
      .default(200)
      .argParser(perDay),
  )
  .addOption(
    new Option('--edits-per-day <number>', 'edits of an account in a day (UTC); 0 is no limit')
      .env('EDITS_PER_DAY')
      .default(200)
      .argParser(perDay),
  )
  .addOption(
    new Option(
      '--held-reviews <number>',
      'public reviews that an account needs until its further ones no longer wait for a moderator',
    )
      .env('HELD_REVIEWS')
      .default(0)
      .argParser(heldReviews),
  )
  .addOption(
    new Option(
      '--own-types <list>',
      'types of things that members add here, such as film:Film,board_game:Board game; at most eight',
    )
      .env('OWN_TYPES')
      .argParser(checked(ownTypesIn)),
  )
  .addOption(
    new Option(
      '--images <list>',
      'addresses of pictures by type, such as release_group=https://coverartarchive.org/release-group/{id}/front-250',
    )
      .env('IMAGES')
      .argParser(checked(readPictures)),
  )
  .addOption(
    new Option(
      '--image-hosts <list>',
      'origins that these addresses redirect to, such as https://archive.org',
    )
      .env('IMAGE_HOSTS')
      .argParser(checked(readPictureHosts)),
  )
  .addOption(
    new Option(
      '--client-rate-limit <number>',
      'requests a second from one IP address, on average over 10 seconds; more are answered 429. 0 is no limit. This machine and trusted proxies themselves have none',
    )
      .env('CLIENT_RATE_LIMIT')
      .default(20)
      .argParser(rateLimit),
  )
  .addOption(
    new Option(
      '--kept-answers <megabytes>',
      'memory for public answers, which are sent again until something is written; 0 keeps none. The embedded database only',
    )
      .env('KEPT_ANSWERS')
      .default(64)
      .argParser(megabytes),
  )
  .addOption(
    new Option(
      '--webhook-allow <list>',
      'IP addresses and ranges of an intranet that webhooks may reach, such as 10.0.0.0/8, over HTTP and on any port too. Without --public-url and --host, this machine is one of them',
    ).env('WEBHOOK_ALLOW'),
  )
  .addOption(new Option('--data-dir <folder>', 'the data folder').env('DATA_DIR').default('.data'))
  .option('--memory', 'keep the data in memory and delete it at the end')
  .option('--demo', 'fill an empty data folder with 200 reviews, and create a moderator')
  .addOption(
    new Option(
      '--dynamodb-endpoint <url>',
      'the URL of a DynamoDB to use instead of the embedded database',
    ).env('DYNAMODB_ENDPOINT'),
  )
  .addOption(
    new Option(
      '--engine-port <number>',
      'a fixed port of the embedded database for a firewall rule (default: any free port)',
    )
      .env('ENGINE_PORT')
      .argParser(enginePort),
  )
  .addOption(
    new Option(
      '--metrics-port <number>',
      'a port that serves GET /metrics to Prometheus (default: no metrics)',
    )
      .env('METRICS_PORT')
      .argParser(port),
  )
  .addOption(
    new Option(
      '--metrics-host <address>',
      'the address for the metrics; every machine that reaches it can read them',
    )
      .env('METRICS_HOST')
      .default('127.0.0.1'),
  )
  .addOption(
    new Option(
      '--log <format>',
      'the format of the line for each request: text for people, or json without personal data',
    )
      .choices(['text', 'json'])
      .default('text'),
  )
  .option('--quiet', 'log no requests')
  .option('--verbose', 'log request ids and round trips to the database, too');
refuseWhatNpmKept();
const { demo: isDemo, log, quiet, verbose, ...options } = command.parse().opts();
const { dataDir, memory, dynamodbEndpoint } = options;
// Functions read these.
process.env.PUBLICATIONS_PER_DAY = `${options.publicationsPerDay}`;
process.env.HELD_REVIEWS = `${options.heldReviews}`;
process.env.EDITS_PER_DAY = `${options.editsPerDay}`;
process.env.OWN_TYPES = options.ownTypes ?? '';
process.env.IMAGES = options.images ?? '';
process.env.IMAGE_HOSTS = options.imageHosts ?? '';
if (memory && dynamodbEndpoint) {
  fail('--memory works with the embedded database only: remove it, or unset DYNAMODB_ENDPOINT');
}

function port(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 65_535) {
    throw new InvalidArgumentError('It must be a number from 0 (any free port) to 65535.');
  }
  return number;
}

function enginePort(value: string): number {
  const number = port(value);
  if (number === 0) throw new InvalidArgumentError('It must be a number from 1 to 65535.');
  return number;
}

function megabytes(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 4_096) {
    throw new InvalidArgumentError('It must be a number from 0 (keeps none) to 4096.');
  }
  return number;
}

function perDay(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 1_000_000) {
    throw new InvalidArgumentError('It must be a number from 0 (no limit) to 1000000.');
  }
  return number;
}

function heldReviews(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 100) {
    throw new InvalidArgumentError('It must be a number from 0 (none wait) to 100.');
  }
  return number;
}

/** Keeps a text, which functions read, if it can be read. */
function checked(read: (text: string) => unknown) {
  return (value: string): string => {
    try {
      read(value);
    } catch (error) {
      throw new InvalidArgumentError(`${(error as Error).message}.`);
    }
    return value;
  };
}

function rateLimit(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 100_000) {
    throw new InvalidArgumentError('It must be a number from 0 (no limit) to 100000.');
  }
  return number;
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
  const demo = isDemo ? await (await import('./demo.ts')).planDemo(stack, !oidcIssuer) : undefined;
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

  const reason = await stack.failure;
  await stack.stop();
  fail(reason);
} catch (error) {
  // A stop ends the demo's import with an error. The next start with --demo continues.
  if (signalled === undefined) fail(error);
}
