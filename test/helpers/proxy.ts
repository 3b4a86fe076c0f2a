import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as forward } from 'node:http';
import { createServer, request as send } from 'node:https';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { newFolder } from './folder.ts';
import { serve } from './listen.ts';

/** A request and its response that passed a proxy. */
export interface Passed {
  url: URL;
  status: number;
  headers: Headers;
  body: string;
}

/**
 * Starts a TLS proxy on this machine for remote hosts. `wayTo` returns an origin, or undefined for
 * an unknown site. Like Caddy and nginx, it keeps paths, and adds its own `X-Forwarded-*` headers.
 * From then on `fetch` reaches these hosts through it.
 */
export async function startTlsProxy(
  hosts: readonly string[],
  wayTo: (url: URL) => string | undefined,
) {
  const { key, cert } = certificate(hosts);
  const server = createServer({ key, cert }, (request, response) => {
    const { host, ...headers } = request.headers;
    const target = wayTo(new URL(request.url ?? '', `https://${host}`));
    if (!target) {
      response.writeHead(404).end('Another site');
      return;
    }
    const said = {
      Host: host,
      'X-Forwarded-For': request.socket.remoteAddress,
      'X-Forwarded-Host': host,
      'X-Forwarded-Proto': 'https',
    };
    const { method, url } = request;
    const passed = forward(new URL(target), {
      method,
      path: url,
      headers: { ...headers, ...said },
    });
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    passed.on('error', () => response.writeHead(502).end());
    request.pipe(passed);
  });
  const port = Number(new URL(await serve(server)).port);

  const elsewhere = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (!hosts.includes(url.hostname)) return elsewhere(input, init);
    const lookup = { hostname: '127.0.0.1', port, servername: url.hostname, ca: cert };
    const { method } = request;
    const headers = { ...Object.fromEntries(request.headers), host: url.host };
    const path = url.pathname + url.search;
    const sent = send({ ...lookup, method, path, headers, agent: false });
    sent.end(Buffer.from(await request.arrayBuffer()));
    const [answer] = await once(sent, 'response');
    const body = await buffer(answer);
    const received = new Headers();
    for (let i = 0; i < answer.rawHeaders.length; i += 2) {
      received.append(answer.rawHeaders[i], answer.rawHeaders[i + 1]);
    }
    const status: number = answer.statusCode;
    passed.push({ url, status, headers: received, body: body.toString() });
    const hasBody = status !== 204 && status !== 304;
    return new Response(hasBody ? body : null, { status, headers: received });
  };
  const passed: Passed[] = [];
  afterAll(() => {
    globalThis.fetch = elsewhere;
  });
  return { passed, port };
}

/** Makes a key and a certificate for these hosts. */
export function certificate(hosts: readonly string[]): { key: Buffer; cert: Buffer } {
  const folder = newFolder();
  const key = join(folder, 'key.pem');
  const cert = join(folder, 'cert.pem');
  const names = hosts.map((host) => `DNS:${host}`).join();
  const made = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test`;
  const files = ['-addext', `subjectAltName=${names}`, '-keyout', key, '-out', cert];
  execFileSync('openssl', [...made.split(' '), ...files], { stdio: 'ignore' });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}
