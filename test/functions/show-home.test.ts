import { handler } from '../../functions/pages/show-home.ts';
import { eventOf } from '../../infra/local/endpoint-event.ts';
import { decideReview } from '../../shared/moderation/decision-repository.ts';
import { stopClock } from '../helpers/clock.ts';
import { invoke, lambdaContext } from '../helpers/invoke.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeUser, makeUsers } from '../helpers/world.ts';

const listed = (body: unknown) =>
  [...`${body}`.matchAll(/\/ws\/review\/([\da-f-]{36})"><time/g)].map(([, id]) => id);

describe('GET /', () => {
  test('explains what to do on an empty service', async () => {
    const { status, body } = await invoke(handler);
    expect(status).toBe(200);
    expect(body).toContain('0 reviews by ');
    expect(body).toContain('Nobody has written a review yet.');
    expect(body).toContain('href="https://api.example/ws/find" rel="noreferrer">Write the first');
    expect(body).not.toContain('Worth reading');
    expect(body).not.toContain('What people wrote last');
    expect(body).toContain('curl "https://api.example/ws/1/review/?limit=3"');
  });

  test('answers the test of API Gateway’s console, which sends no headers', async () => {
    const event = { ...eventOf({ path: {} }), headers: null, multiValueHeaders: null };
    const call = handler as unknown as (event: object, context: object) => Promise<unknown>;
    expect(await call(event, lambdaContext())).toMatchObject({ statusCode: 200 });
  });

  test('shows the newest public reviews while nobody has voted, and how many there are', async () => {
    const ann = await makeUser({ display_name: 'Ann <b>' });
    const ben = await makeUser();
    const ids: string[] = [];
    for (const text of ['first', 'second', 'third', 'fourth', 'fifth']) {
      stopClock(Date.now() + 1);
      const said = `This is the ${text} review of all of them.`;
      ids.push(await ann.publishes({ text: said, entity_type: 'bk_literary_work' }));
    }
    stopClock(Date.now() + 1);
    await ben.publishes({ is_draft: true });
    await decideReview(`${ids[4]}`, 'hide', { reason: 'spam', note: '', moderator_id: null });
    await applyStream();
    const { body, headers } = await invoke(handler);
    expect(listed(body)).toEqual([ids[3], ids[2], ids[1]]);
    expect(body).not.toContain('Worth reading');
    expect(body).toMatch(new RegExp(`/ws/user/${ann.id}">.*<bdi>Ann &lt;b&gt;</bdi></a>`));
    expect(body).toContain('<bdi>Book without a name</bdi>');
    expect(body).toContain('4 reviews by 2 members.');
    expect(body).not.toContain('bk_literary_work');
    expect(body).toMatch(/<meta name="description" content="People’s reviews/);
    expect(body).toMatch(/<meta property="og:title" content="Open reviews">/);
    for (const path of ['docs', 'docs/api', 'account/tokens', 'reviews', 'find']) {
      expect(body).toContain(`href="https://api.example/ws/${path}"`);
    }
    expect(headers['cache-control']).toBe('public, max-age=0, s-maxage=10, stale-if-error=0');
    const again = await invoke(handler, { headers: { 'If-None-Match': `${headers.etag}` } });
    expect(again.status).toBe(304);
  });

  test('begins with texts that people voted up, and shows no review twice', async () => {
    const [ann, ben, eve] = await makeUsers(3);
    const publish = (content: object) => {
      stopClock(Date.now() + 1_000);
      return ann.publishes(content as Record<string, unknown>);
    };
    const good = await publish({});
    const best = await publish({});
    const bad = await publish({});
    const rating = await publish({ rating: 5 });
    const newest = await publish({});
    for (const id of [best, good, rating]) await ben.votes(id);
    for (const id of [best, rating]) await eve.votes(id);
    await ben.votes(bad, 'down');
    await ann.edits(rating, { text: null });
    await applyStream();
    const { body } = await invoke(handler);
    expect(listed(body)).toEqual([best, good, newest, rating, bad]);
    const [before = '', after = ''] = `${body}`.split('<h2>What people wrote last</h2>');
    expect(before).toContain('<h2>Worth reading</h2>');
    expect([listed(before), listed(after)]).toEqual([
      [best, good],
      [newest, rating, bad],
    ]);
    expect(before).toContain('<a href="https://api.example/ws/reviews?sort=popularity">');
    // A popular review among the newest leaves its place there to the next one.
    await ben.votes(newest);
    const [popular = '', others = ''] = `${(await invoke(handler)).body}`.split('<h2>What people');
    expect(listed(popular)).toEqual([best, newest, good]);
    expect(listed(others)).toEqual([rating, bad, expect.any(String)]);
    expect(listed(popular)).not.toContain(listed(others)[2]);
    expect(`${body}`.indexOf('For developers')).toBeGreaterThan(`${body}`.indexOf(`${bad}`));
  });
});
