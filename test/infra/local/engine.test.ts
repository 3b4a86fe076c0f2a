import { findEngine, freeAddress } from '../../../infra/local/engine.ts';

const installed = (path: string) => `/packages/${path}`;
const missing = (path: string) => {
  throw new Error(`Cannot find module '${path}'`);
};

test.each([
  ['linux', 'arm64', '/packages/@dynoxide/linux-arm64/dynoxide'],
  ['darwin', 'arm64', '/packages/@dynoxide/darwin-arm64/dynoxide'],
  ['win32', 'x64', '/packages/@dynoxide/win32-x64/dynoxide.exe'],
])('%s on %s takes the engine of its own package', (platform, arch, path) => {
  expect(findEngine(undefined, { platform, arch }, installed)).toBe(path);
});

test('a path from the operator replaces the package', () => {
  const beos = { platform: 'beos', arch: 'ppc' };
  expect(findEngine('/opt/dynoxide', beos, missing)).toBe('/opt/dynoxide');
});

test('a machine without a package is told what to install, and what else it may do', () => {
  const beos = { platform: 'beos', arch: 'ppc' };
  expect(() => findEngine(undefined, beos, missing)).toThrow(
    'the embedded DynamoDB for beos-ppc is not installed: type "npm install --no-save @dynoxide/beos-ppc@1.2.1". If there is no such package, set ENGINE to the path of a dynoxide program, or DYNAMODB_ENDPOINT to the URL of another DynamoDB',
  );
});

test('a system that lacks other loopback addresses has the one, which can be guessed', async () => {
  // An address of documentation (RFC 5737), which no machine has.
  const address = await freeAddress(undefined, '192.0.2.1');
  expect(address).toEqual({ host: '127.0.0.1', port: expect.any(Number), isGuessable: true });
  expect(await freeAddress(8123, '192.0.2.1')).toEqual({ ...address, port: 8123 });
  const own = await freeAddress();
  expect(own.isGuessable).toBe(false);
  expect(own.host).not.toBe('127.0.0.1');
});
