import { execFileSync } from 'node:child_process';
import { parseMetrics } from '../helpers/prometheus.ts';
import { fresh, makeToken, publish, start } from '../helpers/service.ts';

const curl = (...args: string[]) => `${execFileSync('curl', ['-sS', ...args])}`;

test('a running service serves its metrics to curl, and says where', async () => {
  const dataDir = fresh('data');
  const options = ['--metrics-port', '0', '--log', 'json'];
  const service = await start(dataDir, { options });
  const { metrics_url: url } = JSON.parse(service.out[0] ?? '');
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  const review = await publish(service.url, await makeToken(dataDir));
  for (const path of [`/review/${review}`, `/review/${review}?a=b`, '/review/', '/nowhere']) {
    curl(service.url + path);
  }
  const families = parseMetrics(curl(url));
  const { samples = [] } = families.get('review_http_requests_total') ?? {};
  const counted = samples.map(({ labels: { method, route, status }, value }) => {
    return `${method} ${route} ${status}: ${value}`;
  });
  expect(counted.toSorted()).toEqual([
    'GET /ws/1/review 200: 1',
    'GET /ws/1/review/{review_id} 200: 2',
    'GET none 404: 1',
    'POST /ws/1/review 200: 1',
  ]);
  const first = (name: string) => families.get(name)?.samples[0]?.value;
  expect(first('review_table_readable')).toBe(1);
  expect(first('review_database_bytes')).toBeGreaterThan(10_000);
  expect(first('review_consumer_lag_seconds')).toBeLessThan(120);
  // Not on the port of the service, which everybody reaches.
  const outside = curl(
    '-o',
    '/dev/null',
    '-w',
    '%{http_code}',
    new URL('/metrics', service.url).href,
  );
  expect(outside).toBe('404');
  expect(await service.end('SIGTERM')).toBe(0);
});

test('without the option no port is open', async () => {
  const service = await start(fresh('data'), { options: ['--log', 'json'] });
  expect(JSON.parse(service.out[0] ?? '')).not.toHaveProperty('metrics_url');
  expect(await service.end('SIGTERM')).toBe(0);
});
