import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from './listen.ts';
import { certificate } from './proxy.ts';
import { codeBlock } from './server-guide.ts';

/** The service’s address in the guide. */
const service = 'http://127.0.0.1:3000';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/**
 * Starts nginx with the lines of the server guide, for `host` over TLS and this origin. It stops
 * with the test file. Returns a client.
 */
export async function startNginx(host: string, origin: string) {
  const folder = mkdtempSync(join(tmpdir(), 'nginx-'));
  // Started by root, nginx works as another user.
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'cache'));
  const { key, cert } = certificate([host]);
  writeFileSync(join(folder, 'key.pem'), key);
  writeFileSync(join(folder, 'cert.pem'), cert);
  const port = await freePort();
  const here = (lines: string) =>
    lines.replaceAll(service, origin).replace('/var/cache/nginx/reviews', join(folder, 'cache'));
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off;
    pid ${join(folder, 'pid')};
    error_log ${join(folder, 'error.log')};
    worker_processes 1;
    events {}
    http {
      access_log off;
      client_body_temp_path ${join(folder, 'body')};
      fastcgi_temp_path ${join(folder, 'fastcgi')};
      proxy_temp_path ${join(folder, 'proxy')};
      scgi_temp_path ${join(folder, 'scgi')};
      uwsgi_temp_path ${join(folder, 'uwsgi')};
      ${here(codeBlock('proxy_cache_path'))}
      server {
        listen 127.0.0.1:${port} ssl;
        server_name ${host};
        ssl_certificate ${join(folder, 'cert.pem')};
        ssl_certificate_key ${join(folder, 'key.pem')};
        ${here(codeBlock('proxy_cache reviews'))}
        ${here(codeBlock('location / {'))}
      }
    }`,
  );
  const nginx = spawn('/usr/sbin/nginx', ['-c', file, '-p', folder], { stdio: 'inherit' });
  const agent = new Agent({ keepAlive: true, ca: cert, servername: host });
  afterAll(async () => {
    agent.destroy();
    await stopped(nginx);
    rmSync(folder, { recursive: true, force: true });
  });

  async function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
    const sent = request({
      host: '127.0.0.1',
      port,
      path,
      method,
      agent,
      headers: { Host: host, ...headers },
    });
    sent.end();
    const [answer] = await once(sent, 'response');
    const body = `${await buffer(answer)}`;
    return { status: answer.statusCode, headers: answer.headers, body } as Answer;
  }

  for (const start = Date.now(); ; await sleep(20)) {
    try {
      await ask('/');
      return ask;
    } catch (error) {
      if (nginx.exitCode !== null || Date.now() > start + 10_000) throw error;
    }
  }
}

async function stopped(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null) return;
  process.kill('SIGTERM');
  await once(process, 'exit');
}

/** Returns a port that was free a moment ago: nginx cannot say which one it has chosen. */
async function freePort(): Promise<number> {
  const server = createServer();
  const { port } = new URL(await listen(server));
  await new Promise((resolve) => server.close(resolve));
  return Number(port);
}
