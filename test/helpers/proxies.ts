import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './listen.ts';
import { certificate } from './proxy.ts';
import { codeBlock } from './server-guide.ts';

// Proxies with the lines of the server guide. Addresses and files alone are replaced.

interface Place {
  host: string;
  /** The address of the service, such as 127.0.0.1:3000. */
  service: string;
  port: string;
  folder: string;
}

interface Proxy {
  program: string;
  args: (file: string) => string[];
  configuration: (place: Place) => string;
}

/** Returns a text with parts replaced. Throws if one is missing. */
function replaced(text: string, parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts).reduce((result, [part, other]) => {
    if (!result.includes(part)) throw new Error(`The guide lacks ${part}`);
    return result.replaceAll(part, other);
  }, text);
}

/** Returns the configuration of nginx, with lines of the guide in `http` and in `server`. */
function ofNginx({ host, port, folder }: Place, http: string, server: string): string {
  const temporary = ['client_body', 'fastcgi', 'proxy', 'scgi', 'uwsgi'];
  return `daemon off;
    pid ${folder}/pid;
    error_log ${folder}/error.log;
    worker_processes 1;
    events {}
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
      ${http}
      server {
        listen 127.0.0.1:${port} ssl;
        server_name ${host};
        ssl_certificate ${folder}/cert.pem;
        ssl_certificate_key ${folder}/key.pem;
        ${server}
      }
    }`;
}

const nginx = { program: '/usr/sbin/nginx', args: (file: string) => ['-c', file] };

export type ProxyName = 'Caddy' | 'nginx' | 'nginx with its cache' | 'HAProxy';

const proxies: Readonly<Record<ProxyName, Proxy>> = {
  Caddy: {
    program: '/usr/bin/caddy',
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    configuration: ({ host, service, port, folder }) =>
      replaced(codeBlock('read_body 30s'), {
        '{\n\tservers {': '{\n\tadmin off\n\tauto_https disable_redirects\n\tservers {',
        'reviews.example.org {': `${host}:${port} {\n\tbind 127.0.0.1\n\ttls ${folder}/cert.pem ${folder}/key.pem`,
        '127.0.0.1:3000': service,
      }),
  },
  nginx: {
    ...nginx,
    configuration: (place) => {
      const lines = replaced(codeBlock('location / {'), { '127.0.0.1:3000': place.service });
      return ofNginx(place, '', lines);
    },
  },
  'nginx with its cache': {
    ...nginx,
    configuration: (place) => {
      const here = { '127.0.0.1:3000': place.service };
      const cache = { '/var/cache/nginx/reviews': join(place.folder, 'cache') };
      const lines = ['proxy_cache reviews', 'location / {'].map((begin) =>
        replaced(codeBlock(begin), here),
      );
      return ofNginx(place, replaced(codeBlock('proxy_cache_path'), cache), lines.join('\n'));
    },
  },
  HAProxy: {
    program: '/usr/sbin/haproxy',
    args: (file) => ['-db', '-f', file],
    configuration: ({ service, port, folder }) => `defaults
      mode http
      timeout connect 5s
      timeout client 50s
      timeout server 50s
${replaced(codeBlock('frontend reviews'), {
  ':443': `127.0.0.1:${port}`,
  '/etc/haproxy/reviews.pem': `${folder}/both.pem`,
  '127.0.0.1:3000': service,
})}
`,
  },
};

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Starts a proxy for `host` over TLS, before a service such as 127.0.0.1:3000. */
export async function startProxy(name: ProxyName, host: string, service: string) {
  const { program, args, configuration } = proxies[name];
  const folder = mkdtempSync(join(tmpdir(), 'proxy-'));
  // Started by root, nginx works as another user.
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'cache'));
  const { key, cert } = certificate([host]);
  writeFileSync(join(folder, 'key.pem'), key);
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'both.pem'), `${cert}\n${key}`);
  const file = join(folder, 'configuration');
  const port = await freePort();
  writeFileSync(file, configuration({ host, service, port, folder }));
  const proxy = spawn(program, args(file), {
    cwd: folder,
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder },
    stdio: 'ignore',
  });
  const agent = new Agent({ keepAlive: true, ca: cert, servername: host });

  async function ask(
    path: string,
    {
      method = 'GET',
      headers = {},
      body = '',
    }: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<Answer> {
    const sent = request({
      host: '127.0.0.1',
      port,
      path,
      method,
      agent,
      headers: { Host: host, ...headers },
    });
    sent.end(body);
    const [answer] = await once(sent, 'response');
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: `${await buffer(answer)}`,
    };
  }

  async function stop(): Promise<void> {
    agent.destroy();
    if (proxy.exitCode === null && proxy.signalCode === null && proxy.kill()) {
      await once(proxy, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  }

  for (const end = Date.now() + 10_000; ; await sleep(20)) {
    try {
      await ask('/');
      return { ask, stop };
    } catch (error) {
      if (proxy.exitCode === null && Date.now() < end) continue;
      await stop();
      throw error;
    }
  }
}
