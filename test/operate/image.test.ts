import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { validate } from 'dockerfile-utils';
import { parse } from 'yaml';
import { isInRanges, parseRanges } from '../../shared/base/ip-ranges.ts';
import { routes } from '../../shared/base/routes.ts';
import { root } from '../helpers/service.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const dockerfile = read('infra/local/Dockerfile');
const { scripts, engines } = JSON.parse(read('package.json'));

/** Returns the words of an instruction in JSON form. */
function words(instruction: string) {
  return JSON.parse(new RegExp(`${instruction} (\\[.*\\])$`, 'm').exec(dockerfile)?.[1] ?? '');
}

describe('the image', () => {
  test('passes the linter, which finds a planted fault', () => {
    const faults = (text: string) => validate(text).map(({ message }) => message);
    expect(faults(dockerfile)).toEqual([]);
    expect(faults(dockerfile.replace('WORKDIR', 'WORKDR'))).toHaveLength(1);
    expect(faults(dockerfile.replace('--timeout', '--timeot'))).toHaveLength(1);
  });

  test('is based on the Node.js version of the project, and installs no other', () => {
    const [major] = process.versions.node.split('.');
    const stages = dockerfile.match(/^FROM .*$/gm) ?? [];
    expect(stages).toHaveLength(3);
    for (const stage of stages) {
      expect(stage).toMatch(new RegExp(`^FROM node:${major}-slim\\b`));
    }
    expect(engines.node).toContain(`>=${major}`);
    const installs = dockerfile.match(/^RUN npm .*$/gm);
    expect(installs).toEqual([
      'RUN npm ci --omit=dev --omit=optional --ignore-scripts',
      'RUN npm ci --ignore-scripts',
    ]);
  });

  test('runs the command of npm start, not as root, on a reachable address', () => {
    expect(words('\nCMD').join(' ')).toBe(`${scripts.start} --host 0.0.0.0`);
    const [user] = dockerfile.match(/^USER .*$/gm)?.slice(-1) ?? [];
    expect(user).toBe('USER node');
    expect(dockerfile.indexOf('USER node')).toBeLessThan(dockerfile.indexOf('\nCMD '));
    expect(dockerfile).toContain('mkdir .data && chown node .data');
    expect(dockerfile).toContain('\nVOLUME /service/.data\n');
  });

  test('contains the files it copies, and nothing ignores them', () => {
    const ignored = read('infra/local/Dockerfile.dockerignore').trim().split('\n');
    expect(ignored.shift()).toBe('*');
    const copies = dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm);
    const copied = [...copies].flatMap(([, names = '']) => names.split(' '));
    expect([...new Set(copied)].map((name) => `!${name}`).toSorted()).toEqual(ignored.toSorted());
    for (const name of copied) expect(existsSync(join(root, name))).toBe(true);
  });
});

describe('the health check of the image', () => {
  const [program = '', ...args] = words('HEALTHCHECK .*CMD');

  /** Returns the exit status of the check against a service that answers with this status. */
  async function check(answer?: number) {
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      response.writeHead(answer ?? 500).end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    if (answer === undefined) server.close();
    const checker = spawn(program, args, { env: { PATH: process.env.PATH, PORT: `${port}` } });
    const [status] = await once(checker, 'exit');
    server.close();
    expect(asked).toEqual(answer === undefined ? [] : ['/ws/health']);
    return status;
  }

  test('requests GET /health', async () => {
    const health = routes.find(({ operation }) => operation === 'get-health');
    const route = { method: 'GET', path: '/health', base: '', access: 'public' };
    expect(health).toMatchObject(route);
    expect(await check(200)).toBe(0);
    expect(await check(503)).toBe(1);
    expect(await check()).toBe(1);
  });
});

describe('compose.yaml', () => {
  const { services, volumes, networks } = parse(read('infra/local/compose.yaml'));
  const { reviews, caddy } = services;
  const caddyfile = read('infra/local/Caddyfile');

  test('builds this image from existing files', () => {
    const context = join('infra/local', reviews.build.context);
    expect(normalize(`${context}/`)).toBe('./');
    expect(existsSync(join(root, reviews.build.dockerfile))).toBe(true);
    expect(reviews.command.join(' ')).toBe(`${scripts.start} --host 0.0.0.0 --log json`);
  });

  test('keeps the data, and allows ten seconds to stop', () => {
    expect(reviews.volumes).toEqual([
      'data:/service/.data',
      expect.stringMatching(/^\$\{SITE_FOLDER:-\.\/site\}:\/service\/site:ro$/),
    ]);
    expect(caddy.volumes).toEqual(['./Caddyfile:/etc/caddy/Caddyfile:ro', 'certificates:/data']);
    expect(Object.keys(volumes)).toEqual(['data', 'certificates']);
    expect(Number.parseInt(reviews.stop_grace_period, 10)).toBeGreaterThan(10);
  });

  test('exposes the service through Caddy only, also while it is not healthy', () => {
    expect(reviews.ports).toBeUndefined();
    // A fault of health must not keep people from a service that answers.
    expect(caddy.depends_on).toEqual(['reviews']);
    expect(caddyfile).toMatch(/^\{\$DOMAIN\} \{\n\treverse_proxy reviews:3000 \{$/m);
    expect(caddy.environment.DOMAIN).toMatch(/^\$\{DOMAIN\}$/);
  });

  test('trusts the addresses of Caddy alone, which are fixed in both networks', () => {
    const { ipv4_address, ipv6_address } = caddy.networks.default;
    expect(reviews.environment.TRUSTED_PROXIES).toBe(`${ipv4_address} ${ipv6_address}`);
    const { enable_ipv6, ipam } = networks.default;
    expect(enable_ipv6).toBe(true);
    const [ipv4, ipv6] = ipam.config.map(({ subnet }: { subnet: string }) => subnet);
    expect(isInRanges(parseRanges('subnet', ipv4), ipv4_address)).toBe(true);
    expect(isInRanges(parseRanges('subnet', ipv6), ipv6_address)).toBe(true);
  });

  test('lets Caddy wait for the longest body, at most 30 seconds', () => {
    const [, kilobytes] = /^\t\trequest_buffers (\d+)KiB$/m.exec(caddyfile) ?? [];
    // A form whose text is all emoji: 20,000 UTF-16 units in nine bytes each, and 64 KB.
    expect(Number(kilobytes) * 1024).toBeGreaterThan(9 * 20_000 + 64 * 1024);
    expect(caddyfile).toContain('\t\t\tread_body 30s\n');
  });

  test('passes on what its settings file has, and fixes what the containers demand', () => {
    expect(reviews.env_file).toBe('.env');
    expect(Object.keys(reviews.environment)).toEqual([
      'PUBLIC_URL',
      'TRUSTED_PROXIES',
      'SITE_FOLDER',
    ]);
    expect(reviews.environment.PUBLIC_URL).toMatch(/^https:\/\/\$\{DOMAIN:\?/);
  });
});
