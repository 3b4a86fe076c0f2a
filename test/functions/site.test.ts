import { readSiteFolder } from '../../infra/site/read.ts';
import { provideSite } from '../../shared/base/site/content.ts';
import { invoke } from '../helpers/invoke.ts';
import { routeOf, visitedPages } from '../helpers/routes.ts';
import { pageFor, requestPage } from '../helpers/visit.ts';
import { makeUser } from '../helpers/world.ts';

const logo = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const { content, settings } = readSiteFolder('infra/site/starter');
provideSite({ ...content, logo });
Object.assign(process.env, settings, {
  SITE_NAME: 'Vinyl & <Circle>',
  SITE_TEXT: 'Nine friends write about every record.',
  SITE_CONTACT: 'ann@example.org',
  SITE_ACCENT: '#7a1f5c',
  SITE_IMAGE: 'https://pictures.example/front.png',
  SITE_LICENSE: 'CC BY 4.0',
  SITE_LANGUAGE: 'cy',
  SITE_LOGO: '0123456789ab',
});

const name = 'Vinyl &amp; &lt;Circle&gt;';
const at = 'https://api.example/ws';
const ann = await makeUser({ display_name: 'Ann' });
const entity_id = '9162580e-5df4-42de-80cc-f45a8d8a9b1d';
const review_id = await ann.publishes({ entity_id });
const path = {
  review_id,
  entity_id,
  user_id: ann.id,
  slug: 'rules',
  guide: 'oauth',
  group: 'users',
};

const show = (operation: string, headers = {}) =>
  requestPage(routeOf(operation), { path, headers });

describe('a site with settings of its own', () => {
  test.each(visitedPages)('is named by $operation', async ({ operation }) => {
    const { body, headers } = await show(operation);
    expect(body).toMatch(new RegExp(`<title>([^<]* · )?${name}</title>`));
    expect(body).toContain(`<bdi>${name}</bdi></a>`);
    expect(body).toContain('--accent: #7a1f5c;');
    expect(body).toContain(`<link rel="icon" href="${at}/logo?v=0123456789ab">`);
    expect(headers['content-security-policy']).toContain("img-src data: 'self';");
    const [footer = ''] = /<footer>[\s\S]*<\/footer>/.exec(`${body}`) ?? [];
    const links = [...footer.matchAll(/href="([^"]*)">([^<]*)</g)].map(
      ([, href, text]) => `${text} ${href}`,
    );
    expect(links).toEqual([
      `About ${at}/pages/about`,
      `Rules ${at}/pages/rules`,
      `Privacy ${at}/pages/privacy`,
      `Imprint ${at}/pages/imprint`,
      `Help ${at}/help`,
      `Developers ${at}/docs`,
      'Contact mailto:ann@example.org',
    ]);
    expect(body).not.toMatch(/Open reviews|>Reviews<\/bdi>/);
  });

  test.each(['show-home', 'show-review', 'show-entity', 'show-site-page'])(
    'has its name and picture in previews of %s',
    async (operation) => {
      const { body } = await show(operation);
      expect(body).toContain(`<meta property="og:site_name" content="${name}">`);
      expect(body).toContain(
        '<meta property="og:image" content="https://pictures.example/front.png">',
      );
    },
  );

  test('says on the front page what it is', async () => {
    const { body } = await show('show-home');
    expect(body).toContain(`<h1>${name}</h1>`);
    expect(body).toContain('<p class="lead">Nine friends write about every record.</p>');
    expect(body).toContain(
      '<meta name="description" content="Nine friends write about every record.">',
    );
  });

  test('names itself in feeds, frames and oEmbed', async () => {
    expect((await show('get-user-feed')).body).toContain(`<title>Reviews by Ann · ${name}</title>`);
    expect((await show('get-entity-feed')).body).toMatch(
      new RegExp(`<title>Reviews of [^<]* · ${name}</title>`),
    );
    expect((await show('show-entity-embed')).body).toContain(`</span> on ${name}</span>`);
    const { handler } = await import('../../functions/api/get-oembed.ts');
    const { body } = await invoke(handler, { query: { url: `${at}/review/${review_id}` } });
    expect(body).toMatchObject({ provider_name: 'Vinyl & <Circle>' });
  });

  test('shows its pages, also to somebody who is signed in', async () => {
    const { status, body } = await show('show-site-page');
    expect(status).toBe(200);
    expect(body).toContain('<h1>Rules</h1>');
    expect(body).toContain('<li>Criticize works, not people.</li>');
    const signedIn = await pageFor('show-site-page', ann, { path: { slug: 'privacy' } });
    expect(signedIn).toContain('<summary><bdi>Ann</bdi></summary>');
    const missing = await requestPage(routeOf('show-site-page'), { path: { slug: 'constructor' } });
    expect([missing.status, missing.body]).toEqual([
      404,
      expect.stringContaining('Page not found'),
    ]);
  });

  test('sends its logo as a picture in which no script runs, for a day', async () => {
    const { status, body, headers } = await show('show-logo');
    expect([status, body]).toEqual([200, logo]);
    expect(headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=86400',
      'content-security-policy': expect.stringMatching(/^default-src 'none';.*sandbox$/),
    });
    expect(await show('show-logo', { 'If-None-Match': `${headers.etag}` })).toHaveStatus(304);
  });

  test('proposes its language and licence in the form, which links the rules', async () => {
    const ben = await makeUser();
    const query = { entity_id, entity_type: 'release_group' };
    const html = await pageFor('show-review-form', ben, { query });
    expect(html).toMatch(/<option value="cy" selected/);
    expect(html).toMatch(/value="CC BY 4.0"[^>]* checked/);
    expect(html).toContain(`<a href="${at}/pages/rules">Rules</a>`);
  });

  test('shows the way to rules and privacy where somebody new chooses a name', async () => {
    const eve = await makeUser();
    const html = await pageFor('show-account', eve, {
      query: { return_to: `${at}/`, change: 'name' },
    });
    expect(html).toContain('<h1>Choose your public name</h1>');
    for (const slug of ['rules', 'privacy']) {
      expect(html).toMatch(new RegExp(`<main[\\s\\S]*href="${at}/pages/${slug}"[\\s\\S]*</main>`));
    }
  });

  test('says whom to ask', async () => {
    const bob = await makeUser();
    const { setAttributes } = await import('../helpers/items.ts');
    const { userKey } = await import('../../shared/core/keys.ts');
    await setAttributes(userKey(bob.id), { blocked_at: '2026-11-22T05:24:00.000Z' });
    const query = { entity_id, entity_type: 'release_group' };
    const html = await pageFor('show-review-form', bob, { query });
    expect(html).toContain(
      `ask the operator of <bdi>${name}</bdi> at <a href="mailto:ann@example.org">ann@example.org</a>.`,
    );
  });
});
