import '../../../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { parse } from 'yaml';
import { measureRun } from '../../../../bin/bench/measure.ts';
import { mailCounts } from '../../../../infra/local/sign-in/mail-counts.ts';
import dashboard from '../../../../infra/local/watch/grafana.json' with { type: 'json' };
import { type Metrics, serveMetrics } from '../../../../infra/local/watch/metrics.ts';
import { tableGauges } from '../../../../infra/local/watch/metrics-table.ts';
import { batchDelete, batchWrite } from '../../../../shared/base/table/batch.ts';
import { noteMailServerTried, noteMailTaken } from '../../../../shared/core/user/mail-fault.ts';
import { noticeItem } from '../../../../shared/core/user/notice.ts';
import { readHealth } from '../../../../shared/features/health/health.ts';
import { recordHeartbeat } from '../../../../shared/features/health/heartbeat.ts';
import { recordSending } from '../../../../shared/features/webhooks/run.ts';
import { parseMetrics } from '../../../helpers/prometheus.ts';
import { beforeSend } from '../../../helpers/sends.ts';
import { root } from '../../../helpers/service.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { makeUser } from '../../../helpers/world.ts';

const request = { method: 'GET', url: '/ws/1/review/x', requestId: 'r' };
const route = '/ws/1/review/{review_id}';
let metrics: Metrics;

beforeEach(async () => {
  metrics = await serveMetrics({ port: 0, host: '127.0.0.1' });
});
afterEach(() => metrics.stop());

async function scrape() {
  const response = await fetch(metrics.url);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return parseMetrics(await response.text());
}

async function readValue(name: string, labels: Record<string, string> = {}) {
  const samples = (await scrape()).get(name)?.samples ?? [];
  const wanted = JSON.stringify(labels);
  return samples.find((sample) => JSON.stringify(sample.labels) === wanted)?.value;
}

describe('requests', () => {
  test('are counted by route and status, with their milliseconds', async () => {
    metrics.count({ ...request, route, status: 200, milliseconds: 4 });
    metrics.count({ ...request, route, status: 404, milliseconds: 40 });
    metrics.count({ ...request, route, status: undefined, milliseconds: 20_000 });
    const families = await scrape();
    const counted = families.get('review_http_requests_total');
    expect(counted?.type).toBe('counter');
    expect(counted?.samples.map(({ labels, value }) => [labels, value])).toEqual([
      [{ method: 'GET', route, status: '200' }, 1],
      [{ method: 'GET', route, status: '404' }, 1],
      [{ method: 'GET', route, status: 'closed' }, 1],
    ]);
    const times = families.get('review_http_request_milliseconds');
    expect(times?.type).toBe('histogram');
    const ofBucket = (bound: string) =>
      times?.samples.find(({ labels }) => labels.le === bound)?.value;
    expect([ofBucket('5'), ofBucket('50'), ofBucket('10000'), ofBucket('+Inf')]).toEqual([
      1, 2, 2, 3,
    ]);
  });

  test('have no label that a client chooses', async () => {
    for (let i = 0; i < 50; i++) {
      metrics.count({ ...request, url: `/secret/${i}`, status: 404, milliseconds: 1 });
      metrics.count({ ...request, method: `M${i}`, url: `/${i}`, status: 404, milliseconds: 1 });
    }
    const samples = (await scrape()).get('review_http_requests_total')?.samples;
    expect(samples?.map(({ labels, value }) => [labels, value])).toEqual([
      [{ method: 'GET', route: 'none', status: '404' }, 50],
      [{ method: 'other', route: 'none', status: '404' }, 50],
    ]);
  });
});

test('tells the state of the table', async () => {
  await recordHeartbeat();
  await recordSending(Date.now() - 7_000);
  const ann = await makeUser();
  const ben = await makeUser();
  const review = await ann.publishes({ rating: 5 });
  await ben.reports(review);
  await applyStream();
  const result = await scrape();
  const first = (name: string) => result.get(name)?.samples[0]?.value;
  expect(first('review_table_readable')).toBe(1);
  expect(first('review_public_reviews')).toBe(1);
  expect(first('review_accounts')).toBe(2);
  expect(first('review_open_cases')).toBe(1);
  expect(first('review_notices_lag_seconds')).toBe(0);
  expect(first('review_last_write_age_seconds')).toBeLessThan(60);
  const webhookLag = Number(first('review_webhook_lag_seconds'));
  expect(webhookLag).toBeGreaterThanOrEqual(7);
  expect(webhookLag).toBeLessThan(60);
  const lags = result.get('review_consumer_lag_seconds')?.samples ?? [];
  expect(lags.map(({ labels }) => labels.consumer)).toEqual(['update-aggregates', 'eraser']);
  // Nothing has made a backup.
  expect(first('review_backup_age_seconds')).toBeUndefined();
  expect(result.has('process_resident_memory_bytes')).toBe(true);
});

test('tells how long the oldest notice waits', async () => {
  const notice = { user_id: randomUUID(), kind: 'hide', created_at: Date.now() - 9_000 } as const;
  const put = noticeItem(notice, Date.now());
  await batchWrite([{ put }]);
  const registry = new Registry();
  await tableGauges(registry, undefined)();
  const [, seconds] = /^review_notices_lag_seconds (\d+)/m.exec(await registry.metrics()) ?? [];
  await batchDelete([put]);
  expect(Number(seconds)).toBeGreaterThanOrEqual(9);
  expect(Number(seconds)).toBeLessThan(60);
});

test('a scrape costs a few read units, and the next one none', async () => {
  const update = tableGauges(new Registry(), undefined);
  const first = await measureRun(update);
  expect(first.read).toBeGreaterThan(2);
  expect(first.read).toBeLessThanOrEqual(8);
  expect(first.write).toBe(0);
  expect(await measureRun(update)).toMatchObject({ read: 0, write: 0 });
});

test('two scrapes read the table once', async () => {
  expect(await readValue('review_accounts')).toBe(2);
  await makeUser();
  await applyStream();
  expect(await readValue('review_accounts')).toBe(2);
});

test('the rest is served while the table cannot be read', async () => {
  beforeSend(() => {
    throw new Error('unreadable');
  });
  metrics.count({ ...request, route, status: 200, milliseconds: 4 });
  const families = await scrape();
  expect(families.get('review_table_readable')?.samples[0]?.value).toBe(0);
  expect(families.get('review_health_faults')?.samples).toEqual([]);
  expect(families.get('review_http_requests_total')?.samples).toHaveLength(1);
});

test('counts the mails that sign people in, and says whether the server takes mails', async () => {
  const outcomes = async () =>
    (await scrape())
      .get('review_sign_in_mails_total')
      ?.samples.map(({ labels, value }) => [labels.outcome, value]);
  expect(await outcomes()).toEqual([
    ['asked', 0],
    ['sent', 0],
    ['failed', 0],
    ['held_back', 0],
  ]);
  mailCounts.asked += 3;
  mailCounts.held_back += 1;
  for (let i = 0; i < 2; i++) {
    expect((await outcomes())?.map(([, value]) => value)).toEqual([3, 0, 0, 1]);
  }
  expect(await readValue('review_mail_server_takes_mails')).toBe(1);
  noteMailServerTried('it is silent');
  expect(await readValue('review_mail_server_takes_mails')).toBe(0);
  const health = await readHealth();
  expect(health.mail_server_fault).toBe('The mail server takes no mails: it is silent');
  // Whoever reads needs no mails.
  expect(health.faults.join()).not.toContain('mail');
  noteMailTaken();
});

test('serves nothing else', async () => {
  const { origin } = new URL(metrics.url);
  expect(await fetch(`${origin}/`)).toHaveStatus(404);
  expect(await fetch(`${origin}/metrics`, { method: 'POST' })).toHaveStatus(404);
});

test('says which option to change if the port is in use', async () => {
  const { port } = new URL(metrics.url);
  await expect(serveMetrics({ port: Number(port), host: '127.0.0.1' })).rejects.toThrow(
    /cannot be served at 127\.0\.0\.1 port \d+ .*EADDRINUSE.*--metrics-port/,
  );
});

test('the dashboard shows metrics that are served, and labels that they have', async () => {
  metrics.count({ ...request, route, status: 200, milliseconds: 4 });
  const text = await (await fetch(metrics.url)).text();
  const families = parseMetrics(text);
  const names = namesIn(families);
  const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const variables = dashboard.templating.list.flatMap(({ query }) =>
    typeof query === 'string' ? [] : [query.query],
  );
  expect(queries.length).toBeGreaterThan(20);
  expect(variables).toHaveLength(1);
  const known = new Set(['instance', 'le', 'method', 'route', 'status', 'consumer', 'outcome']);
  for (const query of [...queries, ...variables]) {
    const used = query.match(/\b(review|process|nodejs)_\w+/g) ?? [];
    expect([query, used.length > 0]).toEqual([query, true]);
    for (const name of used) expect([name, names.has(name)]).toEqual([name, true]);
    const grouped = [...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) =>
      list.split(', '),
    );
    const matched = [...query.matchAll(/(\w+)=~?"/g)].map(([, name = '']) => name);
    for (const label of [...grouped, ...matched]) {
      expect([query, label, known.has(label)]).toEqual([query, label, true]);
    }
  }
});

test('the alerts ask for metrics that are served', async () => {
  const names = namesIn(parseMetrics(await (await fetch(metrics.url)).text()));
  const file = join(root, 'infra/local/watch/alerts.yaml');
  const [{ rules }] = parse(readFileSync(file, 'utf8')).groups;
  expect(rules.length).toBeGreaterThan(5);
  for (const { expr, labels } of rules) {
    expect(['page', 'ticket']).toContain(labels.severity);
    for (const name of expr.match(/\breview_\w+/g)) {
      expect([expr, name, names.has(name)]).toEqual([expr, name, true]);
    }
  }
});

function namesIn(families: ReturnType<typeof parseMetrics>) {
  return new Set(
    [...families].flatMap(([name, { type }]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}
