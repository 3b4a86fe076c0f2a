import { randomUUID } from 'node:crypto';
import { handler as getHealth } from '../../../functions/api/get-health.ts';
import { handler as sendHeartbeat } from '../../../functions/background/send-heartbeat.ts';
import { runAs } from '../../../shared/base/operation.ts';
import { routes } from '../../../shared/base/routes.ts';
import { resourceOf } from '../../../shared/core/http/match-route.ts';
import type { MessageType } from '../../../shared/features/webhooks/webhook.ts';
import { insertWebhook } from '../../../shared/features/webhooks/webhook-repository.ts';
import { accessLine, takes } from '../../helpers/aws/access-log.ts';
import { rings } from '../../helpers/aws/alarm-state.ts';
import { alarms, countedBy, only } from '../../helpers/aws/checks.ts';
import { deployed } from '../../helpers/aws/deployed.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';
import { silence } from '../../helpers/console.ts';
import { invoke } from '../../helpers/invoke.ts';
import { makeClient } from '../../helpers/oauth-client.ts';
import { applyStream } from '../../helpers/stream.ts';
import { run, slowly, startReceiver, status } from '../../helpers/webhooks.ts';
import { makeUser } from '../../helpers/world.ts';

// One client, or one account, does the worst that it can while nobody else is there. Nothing rings.

const { service } = (await synthesized()).everything;
const { health = { Resources: {} } } = deployed({ healthCheck: 'reviews.example.org' });

/** Requests a second that a server takes from one client by default. */
const fullRate = 20;

type Line = [request: string, status: number, more?: Record<string, string>];

const format = only(service, 'AWS::ApiGateway::Stage').AccessLogSetting.Format;
const byFunction = (milliseconds: number) => ({ responseLatency: `${milliseconds}` });
const byGateway = (type: string, more = {}) => ({ 'error.responseType': type, ...more });
const refusedToken = byGateway('UNAUTHORIZED', { 'authorizer.requestId': randomUUID() });

/** Requests of one client, as the access log has each. */
const deeds: Record<string, Line> = {
  'preflights with text/plain': ['OPTIONS /1/review', 415, byGateway('UNSUPPORTED_MEDIA_TYPE')],
  'preflights that API Gateway cannot read': ['OPTIONS /1/review', 500, byGateway('DEFAULT_5XX')],
  'made-up tokens': ['POST /1/review', 401, refusedToken],
  'one expired token, all night': ['GET /1/user/me', 401, refusedToken],
  'edits of one review at once': ['POST /1/review/{review_id}', 429, byFunction(8000)],
  'edits of one review by its form': ['POST /review/{review_id}/edit', 429, byFunction(8000)],
  'slow edits that succeed': ['POST /1/review/{review_id}', 200, byFunction(7900)],
  'votes on one review at once': ['PUT /1/review/{review_id}/vote', 429, byFunction(8000)],
  'refreshes of one grant at once': ['POST /1/oauth/token', 429, byFunction(4000)],
  'requests at the hidden address': ['GET /1/review', 403, byGateway('INVALID_API_KEY')],
  'lookups that are too long': ['GET /1/reviews', 503, byFunction(5)],
  'oEmbed in XML': ['GET /oembed', 501, byFunction(5)],
  'paths without a route': ['GET /{proxy+}', 404, byFunction(5)],
  'the description, over its limit': ['GET /1/openapi.json', 429, byGateway('THROTTLED')],
  'its own export, over its limit': ['GET /1/user/me/export', 429, byGateway('THROTTLED')],
  'searches of a database that is slow': ['GET /find', 200, byFunction(3000)],
  'sign-ins at a slow provider': ['GET /account/callback', 200, byFunction(4000)],
  'its own reviews': ['POST /1/review', 200, byFunction(40)],
  'its own deletions': ['DELETE /1/review/{review_id}', 200, byFunction(40)],
};

/** Returns the value of a metric after `seconds` of a deed at full rate. */
function pointOf(metric: string, counted: readonly string[], route: string, seconds: number) {
  const [, name = '', dimension] = /^\S+ (\w+) \S+(?: of (.*))?$/.exec(metric) ?? [];
  const requests = fullRate * seconds;
  if (metric.startsWith('AWS/ApiGateway Count')) return requests;
  // Jobs run by the clock. The consumers are called for what they follow.
  if (metric.startsWith('AWS/Lambda Invocations')) return 60;
  if (metric.startsWith('AWS/Route53')) return 1;
  if (metric.startsWith('AWS/')) return undefined;
  if (dimension === route) return counted.includes(`1 ${name} by $.route`) ? requests : undefined;
  return dimension === undefined && counted.includes(`1 ${name}`) ? requests : undefined;
}

const watches = [service, health].flatMap((stack) =>
  Object.entries(alarms(stack)).map(([id, watch]) => ({ id, watch, stack })),
);

/** Returns whether an alarm rings when requests to a route are counted so at full rate. */
function isRinging(
  { id, watch, stack }: (typeof watches)[number],
  counted: readonly string[],
  route: string,
) {
  const [, periods, seconds] = (/of (\d+) × (\d+) s$/.exec(watch.within) ?? []).map(Number);
  const points = watch.metrics.map((metric) =>
    Array(periods).fill(pointOf(metric, counted, route, Number(seconds))),
  );
  return rings(stack, id, points);
}

/** Returns the alarms that ring when each of these requests to a route comes at full rate. */
function ringing(httpMethod: string, resourcePath: string, answers: Record<string, string>[]) {
  const counted = answers.flatMap((answer) => {
    const line = accessLine(format, { httpMethod, resourcePath, ...answer });
    return countedBy(service, /AccessLog/, (pattern) => takes(pattern, line));
  });
  return watches.flatMap((watched) =>
    isRinging(watched, counted, `${httpMethod} ${resourcePath}`) ? [watched.id] : [],
  );
}

test.each(Object.entries(deeds))('%s leave every alarm silent', (_, [request, status, more]) => {
  const [method = '', path = ''] = request.split(' ');
  expect(ringing(method, path, [{ status: `${status}`, ...more }])).toEqual([]);
});

test.each(routes)('refusals of $method $path leave every alarm silent', ({ method, ...route }) => {
  const refusals = [400, 404, 429].map((code) => ({ status: `${code}`, ...byFunction(40) }));
  const throttled = { status: '429', ...byGateway('THROTTLED') };
  expect(ringing(method, resourceOf(route), [...refusals, throttled])).toEqual([]);
});

test('the points are not silent by themselves: failures of ours ring', () => {
  const ours = ringing('GET', '/1/review', [{ status: '500', ...byFunction(40) }]);
  expect(ours).toEqual(['Outageread', 'ErrorsOfAnHour', 'ErrorsOfSixHours']);
});

describe('one account', () => {
  /** Returns the metrics that functions count while it acts, and what the log says of webhooks. */
  async function watched(act: () => Promise<unknown>) {
    const counted: string[] = [];
    const logged: string[] = [];
    process.env.METRICS_NAMESPACE = 'reviews';
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      const [{ Metrics }] = JSON.parse(`${text}`)._aws.CloudWatchMetrics;
      return counted.push(Metrics[0].Name) > 0;
    });
    jest.spyOn(console, 'warn').mockImplementation(({ message }) => logged.push(message));
    silence('info');
    await act();
    jest.restoreAllMocks();
    delete process.env.METRICS_NAMESPACE;
    return { counted: new Set(counted), logged };
  }

  test('does not count as a failure by 40 edits of one review at once', async () => {
    const owner = await makeUser();
    const review = await owner.publishes();
    const { counted } = await watched(() =>
      runAs({ name: 'update-review', activity: 'publish' }, () =>
        Promise.all(
          Array.from({ length: 40 }, (_, i) =>
            owner.edits(review, { text: `${i}` }).catch(() => {}),
          ),
        ),
      ),
    );
    expect(counted).not.toContain('Unavailable');
  });

  test('is no fault of health by 50 webhooks whose receivers fail, are slow or do not exist', async () => {
    const owner = await makeUser();
    const failing = await startReceiver();
    const slow = await startReceiver();
    const urls = ['https://hook.invalid/', failing.url, slow.url];
    for (let i = 0; i < 25; i++) {
      const { client_id } = await makeClient(owner);
      for (const url of [urls[i % 3], urls[(i + 1) % 3]]) {
        const types: MessageType[] = ['review.published'];
        await insertWebhook(client_id, owner.id, { address: `${url}?${i}`, types });
      }
    }
    const { logged } = await watched(async () => {
      await run();
      failing.respond = status(500);
      slow.respond = slowly(1_200);
      for (let i = 0; i < 20; i++) await owner.publishes();
      for (let i = 0; i < 2; i++) await run();
      await sendHeartbeat();
      await applyStream();
    });
    expect(logged).toEqual([]);
    const { status: answer, body } = await invoke(getHealth);
    expect([answer, body.description]).toEqual([200, undefined]);
  });
});
