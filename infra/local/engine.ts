import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';

// The program of the embedded DynamoDB, and the address that it listens on.

const require = createRequire(import.meta.url);
const packageFile = new URL('../../package.json', import.meta.url);

/** The loopback address that every system has. */
const onlyLoopback = '127.0.0.1';

/** Kind of machine, as Node.js names it. */
interface Machine {
  platform: string;
  arch: string;
}

/**
 * Returns the path of the program. `chosen` is a path from the operator. Otherwise it is that of
 * the package for this machine, such as `@dynoxide/darwin-arm64`. Throws a sentence if that is not
 * installed.
 */
export function findEngine(
  chosen: string | undefined,
  { platform, arch }: Machine = process,
  resolve: (path: string) => string = require.resolve,
): string {
  if (chosen) return chosen;
  const name = `@dynoxide/${platform}-${arch}`;
  try {
    return resolve(`${name}/dynoxide${platform === 'win32' ? '.exe' : ''}`);
  } catch (cause) {
    throw new Error(
      `the embedded DynamoDB for ${platform}-${arch} is not installed: type "npm install --no-save ${name}@${version()}". If there is no such package, set ENGINE to the path of a dynoxide program, or DYNAMODB_ENDPOINT to the URL of another DynamoDB`,
      { cause },
    );
  }
}

/** Version of the engine that this service is tested with. */
function version(): string {
  const { optionalDependencies } = JSON.parse(readFileSync(packageFile, 'utf8'));
  return optionalDependencies['@dynoxide/linux-x64'];
}

/**
 * Returns a free address of this machine alone, and whether a web page could guess it. The engine
 * asks for no credentials and lets every origin read. Linux has all of 127.0.0.0/8, so the host is
 * a random one of these, which no page in a browser can try out. Users of this machine can still
 * look it up. Other systems have 127.0.0.1 alone.
 */
export async function freeAddress(
  port?: number,
  host = randomLoopback(),
): Promise<{ host: string; port: number; isGuessable: boolean }> {
  try {
    const free = await freePort(host);
    return { host, port: port ?? free, isGuessable: host === onlyLoopback };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRNOTAVAIL' || host === onlyLoopback) throw error;
    return freeAddress(port, onlyLoopback);
  }
}

function randomLoopback(): string {
  // Without the network, 127.0.0.1 and the broadcast address.
  const host = randomInt(2, 2 ** 24 - 1);
  return [127, host >> 16, (host >> 8) & 255, host & 255].join('.');
}

async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
