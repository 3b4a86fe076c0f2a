import { describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/show-home.ts';
import { decideReview } from '../../shared/moderation/decision-repository.ts';
import { stopClock } from '../helpers/clock.ts';
import { invoke } from '../helpers/invoke.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeUser } from '../helpers/world.ts';

process.env.AUTH_URL = 'https://api.example/ws';

describe('GET /', () => {
  test('tells of an empty service what to do', async () => {
    const { status, body } = await invoke(handler);
    expect(status).toBe(200);
    expect(body).toMatch(/<dt>reviews<\/dt><dd class="number">0<\/dd>/);
    expect(body).toContain('Nobody has written a review yet. Publish the first one');
    expect(body).toContain('curl "https://api.example/ws/1/review/?limit=3"');
  });

  test('shows the three newest public reviews, and how many there are of all', async () => {
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
    const shown = [...body.matchAll(/\/ws\/review\/([^"]*)"/g)].map(([, id]) => id);
    expect(shown).toEqual([ids[3], ids[2], ids[1]]);
    expect(body).toContain(`/ws/user/${ann.id}"><bdi>Ann &lt;b&gt;</bdi></a>`);
    expect(body).toContain('<bdi>Unnamed literary work</bdi>');
    expect(body).toMatch(/<dt>reviews<\/dt><dd class="number">4<\/dd>/);
    expect(body).toMatch(/<dt>people<\/dt><dd class="number">2<\/dd>/);
    expect(body).not.toContain('bk_literary_work');
    expect(body).toMatch(/<meta name="description" content="People’s reviews/);
    expect(body).toMatch(/<meta property="og:title" content="Open reviews">/);
    for (const path of ['docs', 'docs/api', 'account/tokens', 'account/applications']) {
      expect(body).toContain(`href="https://api.example/ws/${path}"`);
    }
    expect(headers['cache-control']).toBe('public, max-age=0, s-maxage=10');
    const again = await invoke(handler, { headers: { 'If-None-Match': `${headers.etag}` } });
    expect(again.status).toBe(304);
  });
});
