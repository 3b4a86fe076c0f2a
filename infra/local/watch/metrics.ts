import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { mailFault } from '../../../shared/core/user/mail-fault.ts';
import type { Served } from '../gateway/log.ts';
import { mailCounts } from '../sign-in/mail-counts.ts';
import { tableGauges } from './metrics-table.ts';

/** The metrics of the service, in the text format of Prometheus, on a port of their own. */
export interface Metrics {
  /** The address of the text: `http://127.0.0.1:9464/metrics`. */
  url: string;
  /** Counts a finished request. */
  count(served: Served): void;
  stop(): Promise<void>;
}

/** Upper bounds of the histogram, in milliseconds. */
const buckets = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];

/** A client can send any method. Those that no route has share one label. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'];

/**
 * Serves `GET /metrics` on `host` and `port`; 0 is any free port. `file` is the database, unless it
 * is a DynamoDB elsewhere. No label has a value that a client chooses, so the series are bounded.
 * Throws a sentence if the port cannot be opened.
 */
export async function serveMetrics(options: {
  port: number;
  host: string;
  file?: string | undefined;
}): Promise<Metrics> {
  const { port, host, file } = options;
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'review_http_requests_total',
    help: 'Finished requests by route and status. "closed" is a client that did not wait.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const milliseconds = new Histogram({
    name: 'review_http_request_milliseconds',
    help: 'Milliseconds from a request to the end of its response, by route.',
    labelNames: ['method', 'route'],
    buckets,
    registers,
  });
  new Counter({
    name: 'review_sign_in_mails_total',
    help: 'Mails that sign people in: asked for, sent, failed, and held back by a limit.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const [outcome, mails] of Object.entries(mailCounts)) this.inc({ outcome }, mails);
    },
  });
  new Gauge({
    name: 'review_mail_server_takes_mails',
    help: '0 if the mail server takes no mails, otherwise 1.',
    registers,
    collect() {
      this.set(mailFault() === undefined ? 1 : 0);
    },
  });
  const update = tableGauges(registry, file);

  async function answer(response: ServerResponse) {
    await update();
    response.writeHead(200, { 'Content-Type': registry.contentType });
    response.end(await registry.metrics());
  }
  const server = createServer((request, response) => {
    if (request.method === 'GET' && request.url === '/metrics') {
      answer(response).catch((error: unknown) => {
        console.error('the metrics cannot be read:', error);
        response.writeHead(500).end();
      });
    } else {
      response.writeHead(404).end();
    }
  });
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const { message } = cause as Error;
    throw new Error(
      `the metrics cannot be served at ${host} port ${port} (${message}): check --metrics-host and --metrics-port`,
      { cause },
    );
  }
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}/metrics`,
    count(served) {
      const labels = {
        method: methods.includes(served.method) ? served.method : 'other',
        route: served.route ?? 'none',
      };
      requests.inc({ ...labels, status: served.status ?? 'closed' });
      milliseconds.observe(labels, served.milliseconds);
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}
