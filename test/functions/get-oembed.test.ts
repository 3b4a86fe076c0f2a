import { randomUUID } from 'node:crypto';
import { handler } from '../../functions/api/get-oembed.ts';
import { handler as showEmbed } from '../../functions/pages/show-entity-embed.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { invoke } from '../helpers/invoke.ts';
import { nameEntities } from '../helpers/names.ts';
import { makeUser } from '../helpers/world.ts';

const at = 'https://api.example/ws';
const entity_id = randomUUID();
const url = `${at}/entity/${entity_id}`;

beforeAll(async () => {
  await (await makeUser()).publishes({ entity_id, rating: 4 });
  await (await makeUser()).publishes({ entity_id, rating: 5 });
});
const get = (query: Record<string, string>) => invoke(handler, { query });

describe('GET /oembed', () => {
  test.each([
    url,
    `${url}/`,
    `${url}?rating=5#reviews`,
    url.replace(entity_id, entity_id.toUpperCase()),
  ])('gives the frame of the page %s (oEmbed 1.0, section 2.3.4)', async (asked) => {
    await nameEntities({ [entity_id]: 'Blue & "Green"' });
    const { status, headers, body } = await get({ url: asked });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=0, s-maxage=10, stale-if-error=0',
    });
    expect(body).toEqual({
      version: '1.0',
      type: 'rich',
      title: 'Blue & "Green"',
      provider_name: 'Reviews',
      provider_url: `${at}/`,
      html: `<iframe src="${url}/embed" title="Reviews: Blue &amp; &quot;Green&quot;" width="320" height="120" style="border:0" loading="lazy"></iframe>`,
      width: 320,
      height: 120,
    });
  });

  test('keeps a theme of the address', async () => {
    for (const theme of ['light', 'dark']) {
      const { body } = await get({ url: `${url}?theme=${theme}` });
      expect(body.html).toContain(`src="${url}/embed?theme=${theme}"`);
    }
    expect((await get({ url: `${url}?theme=blue` })).body.html).toContain(`src="${url}/embed"`);
  });

  test('is no larger than the site has room', async () => {
    const { body } = await get({ url, maxwidth: '200', maxheight: '9'.repeat(20), format: 'json' });
    expect(body).toMatchObject({ width: 200, height: 120 });
    expect(body.html).toContain('width="200" height="120"');
  });

  test('gives title and author of a review (section 2.3.4.3)', async () => {
    const author = await makeUser({ display_name: 'Cléo' });
    const review = await author.publishes({ entity_id });
    await nameEntities({ [entity_id]: 'Blue & "Green"' });
    for (const asked of [`${at}/review/${review}`, `${at}/review/${review.toUpperCase()}/?a=b`]) {
      const { status, body } = await get({ url: asked });
      expect(status).toBe(200);
      expect(body).toEqual({
        version: '1.0',
        type: 'link',
        title: 'Blue & "Green", reviewed by Cléo',
        author_name: 'Cléo',
        author_url: `${at}/user/${author.id}`,
        provider_name: 'Reviews',
        provider_url: `${at}/`,
      });
    }
    await setHidden(review, true);
    expect(await get({ url: `${at}/review/${review}` })).toHaveStatus(404);
  });

  test.each([
    'https://other.example/ws/entity/',
    `${at}/user/`,
    `${at}-2/review/`,
    `${at}/1/entity/`,
    `${at}/entity/x/../../user/`,
  ])('knows nothing of %s', async (prefix) => {
    const answer = await get({ url: prefix + entity_id });
    expect(answer).toMatchObject({ status: 404, body: { error: 'not_found' } });
  });

  test.each([
    [{ url: 'no address' }, 404, 'not_found'],
    [{ url: `${at}/entity/x` }, 404, 'not_found'],
    [{ url, format: 'xml' }, 501, 'not_implemented'],
    [{}, 400, 'invalid_request'],
    [{ url, maxwidth: '0' }, 400, 'invalid_request'],
    [{ url, maxheight: '-1' }, 400, 'invalid_request'],
  ])('refuses %j in JSON: %i', async (query, status, error) => {
    const answer = await get(query as Record<string, string>);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer).toHaveStatus(status);
    expect(answer.body.error).toEqual(error);
  });
});

describe('GET /entity/{entity_id}/embed', () => {
  test('shows stars, average and number, and leads out of the frame', async () => {
    await nameEntities({ [entity_id]: 'Blue & "Green"' });
    const path = { entity_id };
    const { status, headers, body } = await invoke(showEmbed, { path });
    expect(status).toBe(200);
    expect(body).toContain(`<a href="${url}" target="_top">`);
    expect(body).toContain('<bdi>Blue &amp; &quot;Green&quot;</bdi>');
    expect(body).toContain('>4.5 <svg class="stars"');
    expect(body).toContain('aria-label="4.5 of 5 stars"');
    expect(body).toContain('>2 reviews<');
    expect(body).not.toContain('<script');
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'public, max-age=0, s-maxage=10, stale-if-error=0',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[^']+'; frame-ancestors \*; base-uri 'none'$/,
      ),
    });
    expect(headers).not.toHaveProperty('x-frame-options');
    const { etag = '', 'content-security-policy': policy } = headers;
    const again = await invoke(showEmbed, { path, headers: { 'If-None-Match': etag } });
    expect(again).toHaveStatus(304);
    expect(again.headers['content-security-policy']).toEqual(policy);
  });

  test('takes the colours of the page around it', async () => {
    const path = { entity_id };
    const styleOf = async (query: Record<string, string>) => {
      const { status, body } = await invoke(showEmbed, { path, query });
      expect(status).toBe(200);
      return /<style>(.*)<\/style>/s.exec(body)?.[1] ?? '';
    };
    const own = await styleOf({});
    const light = await styleOf({ theme: 'light' });
    const dark = await styleOf({ theme: 'dark' });
    expect(own).toContain('@media (prefers-color-scheme: dark)');
    for (const style of [light, dark]) expect(style).not.toContain('prefers-color-scheme');
    expect(light).toContain('color-scheme: light;');
    // The last value of a property counts.
    const paper = (style: string) => [...style.matchAll(/--paper: (#\w+)/g)].at(-1)?.[1];
    expect(paper(light)).toBe('#ffffff');
    expect(paper(dark)).toBe('#161a22');
    const wrong = await invoke(showEmbed, { path, query: { theme: 'blue' } });
    expect(wrong).toHaveStatus(400);
  });

  test('may not be framed where there is an error', async () => {
    const { status, headers } = await invoke(showEmbed, { path: { entity_id: 'x' } });
    expect(status).toBe(404);
    expect(headers['x-frame-options']).toBe('DENY');
  });

  test('has no stars where nobody has rated', async () => {
    const one = randomUUID();
    await (await makeUser()).publishes({ entity_id: one, rating: null });
    const { body } = await invoke(showEmbed, { path: { entity_id: one } });
    expect(body).toContain('Album or single without a name');
    expect(body).not.toContain('<svg');
    const { body: empty } = await invoke(showEmbed, { path: { entity_id: randomUUID() } });
    expect(empty).toContain('No reviews yet');
  });
});
