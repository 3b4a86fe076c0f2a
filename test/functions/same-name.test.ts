import { randomUUID } from 'node:crypto';
import { measure } from '../../bin/bench/measure.ts';
import { handler as getEntity } from '../../functions/api/get-entity.ts';
import { handler as entityFeed } from '../../functions/api/get-entity-feed.ts';
import { handler as getOembed } from '../../functions/api/get-oembed.ts';
import { handler as userFeed } from '../../functions/api/get-user-feed.ts';
import { insertReport } from '../../shared/core/report/report-repository.ts';
import { invoke } from '../helpers/invoke.ts';
import { nameEntities } from '../helpers/names.ts';
import { applyStream } from '../helpers/stream.ts';
import { dataIn, faultsIn } from '../helpers/structured-data.ts';
import { ask, pageFor } from '../helpers/visit.ts';
import { makeModerator, makeUsers, visitor } from '../helpers/world.ts';

// Two albums of one name, which only their lines tell apart.

const at = 'https://api.example/ws';
const [ann, ben, cem] = await makeUsers(3);
const mia = await makeModerator('Mia');
const queen = { id: randomUUID(), title: 'Greatest Hits (Queen · 1981)', line: 'Queen · 1981' };
const abba = {
  id: randomUUID(),
  title: 'Greatest Hits (ABBA & Björn · 1975 · Sweden)',
  line: 'ABBA &amp; Björn · 1975 · Sweden',
};
const both = [queen, abba];
const albums = both.map(({ id: entity_id }) => ({ entity_id, entity_type: 'release_group' }));
let byAnn: string[];

beforeAll(async () => {
  await nameEntities({
    [queen.id]: {
      title: 'Greatest Hits',
      'first-release-date': '1981-10-26',
      'artist-credit': [{ name: 'Queen', joinphrase: '' }],
    },
    [abba.id]: {
      title: 'Greatest Hits',
      'first-release-date': '1975',
      'artist-credit': [{ name: 'ABBA', joinphrase: ' & ' }, { name: 'Björn' }],
      disambiguation: 'Sweden',
    },
  });
  byAnn = await Promise.all(albums.map((album) => ann.publishes(album)));
  for (const album of albums) await ben.publishes({ ...album, is_draft: true });
  for (const id of byAnn) {
    await cem.votes(id);
    await insertReport({ id, user_id: ann.id }, { user_id: ben.id, reason: 'spam' });
  }
  await applyStream();
});

const lines = (html: string) =>
  both.map(({ line }) => html.split(`Album or single · <bdi>${line}</bdi>`).length - 1);

describe('two albums of one name', () => {
  test.each<[string, () => Parameters<typeof ask>]>([
    ['the landing page', () => ['show-home', cem]],
    ['all reviews', () => ['show-reviews', cem]],
    ['reviews of a person', () => ['show-user', cem, { path: { user_id: ann.id } }]],
    ['own reviews', () => ['show-my-reviews', ann]],
    ['own votes', () => ['show-my-votes', cem]],
    ['the desk', () => ['show-cases', mia]],
    ['the desk, by author', () => ['show-author', mia, { path: { user_id: ann.id } }]],
  ])('stand apart in %s', async (_, request) => {
    const html = await pageFor(...request());
    expect(lines(html).every((count) => count > 0)).toBe(true);
  });

  test.each<[string, (i: number) => Parameters<typeof ask>]>([
    ['its page', (i) => ['show-entity', cem, { path: { entity_id: both[i]?.id ?? '' } }]],
    ['the page of a review', (i) => ['show-review', cem, { path: { review_id: byAnn[i] ?? '' } }]],
    ['its revisions', (i) => ['show-revisions', cem, { path: { review_id: byAnn[i] ?? '' } }]],
    ['the form', (i) => ['show-review-form', cem, { query: albums[i] ?? {} }]],
    ['the editor', (i) => ['show-review-editor', ann, { path: { review_id: byAnn[i] ?? '' } }]],
    ['the deletion', (i) => ['show-review-deletion', ann, { path: { review_id: byAnn[i] ?? '' } }]],
    ['its case', (i) => ['show-case', mia, { path: { review_id: byAnn[i] ?? '' } }]],
  ])('have their line on %s', async (_, request) => {
    for (const i of [0, 1]) {
      const html = await pageFor(...request(i));
      // A review ends with another of its author.
      const [own = ''] = html.split('More by');
      expect(lines(own)[i]).toBe(1);
      expect(lines(own)[1 - i]).toBe(0);
    }
  });

  test('stand apart in titles, of pages, feeds, frames and cards of other sites', async () => {
    const titled = (html: string) => /<title>([\s\S]*?)<\/title>/.exec(html)?.[1];
    const feed = `${(await invoke(userFeed, { path: { user_id: ann.id } })).body}`;
    for (const [i, { id, title }] of both.entries()) {
      const escaped = title.replace('&', '&amp;');
      const page = await pageFor('show-entity', cem, { path: { entity_id: id } });
      expect(titled(page)).toBe(`${escaped} · Reviews`);
      expect(page).toContain('<h1><bdi>Greatest Hits</bdi></h1>');
      const review = await ask('show-review', cem, { path: { review_id: byAnn[i] ?? '' } });
      expect(titled(review.html)).toBe(`${escaped}, reviewed by Ann · Reviews`);
      const frame = await pageFor('show-entity-embed', cem, { path: { entity_id: id } });
      expect(frame).toContain(both[i]?.line);
      const ofOne = `${(await invoke(entityFeed, { path: { entity_id: id } })).body}`;
      expect(titled(ofOne)).toBe(`Reviews of ${escaped}`);
      expect(feed).toContain(`${escaped}</title>`);
      for (const url of [`${at}/entity/${id}`, `${at}/review/${byAnn[i]}`]) {
        const card = await invoke(getOembed, { query: { url } });
        expect(card.body.title).toContain(title);
      }
      const frames = await invoke(getOembed, { query: { url: `${at}/entity/${id}` } });
      expect(frames.body.html).toContain(`title="Reviews: ${escaped}"`);
    }
  });

  test('stand apart in answers', async () => {
    const about = ['Queen · 1981', 'ABBA & Björn · 1975 · Sweden'];
    for (const [i, { id }] of both.entries()) {
      const metadata = {
        id,
        type: 'release_group',
        name: 'Greatest Hits',
        url: `https://music.example/release-group/${id}`,
        about: about[i],
        image: null,
      };
      const query = { include_metadata: 'true' };
      const entity = await invoke(getEntity, { path: { entity_id: id }, query });
      expect(entity.body.metadata).toEqual(metadata);
      const { body } = await visitor.lists({ entity_id: id, ...query });
      expect(body.reviews[0].metadata).toEqual(metadata);
    }
  });

  test('stand apart for search engines', async () => {
    const found = await Promise.all(
      both.map(async ({ id }) => {
        const html = await pageFor('show-entity', cem, { path: { entity_id: id } });
        const data = dataIn(html) ?? {};
        expect(await faultsIn(data)).toEqual([]);
        return data.itemReviewed;
      }),
    );
    expect(found).toMatchObject([
      {
        '@type': 'MusicAlbum',
        byArtist: { '@type': 'MusicGroup', name: 'Queen' },
        datePublished: '1981',
      },
      { byArtist: { name: 'ABBA & Björn' }, datePublished: '1975' },
    ]);
  });

  test('cost a list what their names did: half a unit each', async () => {
    const query = { user_id: ann.id };
    const named = await measure('list-reviews', { query: { ...query, include_metadata: 'true' } });
    const plain = await measure('list-reviews', { query });
    expect(named.read - plain.read).toBe(1);
  });
});
