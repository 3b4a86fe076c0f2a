import { spawnSync } from 'node:child_process';
import type { PresentedReview } from '../../shared/core/review/presented.ts';
import { spawnAdmin } from '../helpers/admin.ts';
import { openBrowser } from '../helpers/browser.ts';
import { connectTo } from '../helpers/connect.ts';
import { fresh, type Service, start } from '../helpers/service.ts';

interface Listed extends PresentedReview {
  published_on: string;
  metadata: { name: string; url: string } | null;
}

const complete = /^The demo is complete: 200 reviews\.$/;

/** All that the service has printed. */
function saidBy({ out }: Service) {
  return `${out.join('\n')}\n`;
}

/** Output of the command after “Try”, in a shell. */
function tryIt(service: Service) {
  const [, command = ''] = /^ {2}Try {4}(curl .*)$/m.exec(saidBy(service)) ?? [];
  return JSON.parse(spawnSync('sh', ['-c', `${command} -s`], { encoding: 'utf8' }).stdout);
}

async function allReviews(url: string) {
  const found = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const at = cursor && `&cursor=${cursor}`;
    const response = await fetch(`${url}/review/?include_metadata=true${at}`);
    const { reviews, next } = (await response.json()) as { reviews: Listed[]; next?: string };
    found.push(...reviews);
    cursor = next;
  }
  return found;
}

describe('npm start -- --demo --memory', () => {
  const dataDir = fresh('memory');
  let service: Service;
  let url: string;
  let reviews: Listed[];
  beforeAll(async () => {
    service = await start(dataDir, { options: ['--demo', '--memory'], until: complete });
    ({ url } = service);
    reviews = await allReviews(url);
  });

  test('shows something at “Try”: a release by its name, with what people think of it', () => {
    const { entity, latest, popular, metadata } = tryIt(service);
    expect(metadata).toMatchObject({ id: entity.id, type: 'release_group', name: 'OK Computer' });
    expect(metadata.url).toBe(`https://musicbrainz.org/release-group/${entity.id}`);
    expect(entity.review_count).toBeGreaterThan(5);
    expect(latest.length).toBe(3);
    expect(popular.length).toBe(3);
  });

  test('prints its addresses before it adds the reviews', () => {
    expect(service.out.findIndex((line) => /^ {2}Open/.test(line))).toBe(2);
    expect(service.out.findIndex((line) => complete.test(line))).toBeGreaterThan(7);
  });

  test('begins with reviews worth reading, not with the reported one', () => {
    for (const { text } of reviews.slice(0, 4)) expect(text?.length).toBeGreaterThan(90);
    // The start page shows five.
    const authors = reviews.slice(0, 5).map(({ user }) => user.display_name);
    expect(authors).not.toContain('Best Deals 4U');
    const ages = reviews.slice(0, 4).map((review) => Date.now() - Date.parse(review.published_on));
    expect(Math.max(...ages)).toBeLessThan(2 * 86_400_000);
  });

  test('has 200 reviews of 20 named releases and books in five languages', () => {
    expect(reviews).toHaveLength(200);
    expect(saidBy(service)).toContain('  Demo   200 reviews, in some seconds; ');
    const names = Map.groupBy(reviews, ({ entity_id }) => entity_id);
    expect(names.size).toBe(20);
    for (const [, of] of names) {
      expect(new Set(of.map(({ metadata }) => metadata?.name)).size).toBe(1);
      expect(of[0]?.metadata?.name).toMatch(/\S/);
    }
    const types = new Set(reviews.map(({ entity_type }) => entity_type));
    expect(types).toEqual(new Set(['release_group', 'bk_edition_group', 'bk_literary_work']));
    const languages = Object.entries(Object.groupBy(reviews, ({ language }) => language));
    expect(languages.map(([language]) => language).sort()).toEqual(['de', 'en', 'es', 'fr', 'it']);
    for (const [, of = []] of languages) expect(of.length).toBeGreaterThan(20);
  });

  test('has texts of all lengths, each written once, over two years', () => {
    const texts = reviews.flatMap(({ text }) => text ?? []);
    expect(new Set(texts).size).toBe(texts.length);
    expect(texts.length).toBeLessThan(reviews.length);
    expect(texts.filter((text) => text.length < 100).length).toBeGreaterThan(20);
    expect(texts.filter((text) => text.includes('\n\n')).length).toBeGreaterThan(10);
    const days = reviews.map(({ published_on }) => (Date.now() - Date.parse(published_on)) / 864e5);
    expect(Math.min(...days)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...days)).toBeGreaterThan(650);
    expect(Math.max(...days)).toBeLessThanOrEqual(731);
  });

  test('has votes, so that popularity and karma differ', () => {
    const popularity = reviews.map((review) => review.popularity);
    expect(Math.max(...popularity)).toBeGreaterThan(10);
    expect(Math.min(...popularity)).toBeLessThan(0);
    const karma = reviews.map(({ user }) => user.karma);
    expect(Math.max(...karma)).toBeGreaterThanOrEqual(50);
    expect(Math.min(...karma)).toBeLessThan(0);
  });

  test('gives feeds their names', async () => {
    const { entity_id } = reviews.find(({ metadata }) => metadata?.name === 'Der Process') ?? {};
    const feed = await (await fetch(`${url}/entity/${entity_id}/reviews.atom`)).text();
    expect(feed).toContain('<title>Reviews of Der Process (Franz Kafka · 1925)</title>');
    expect(feed).toMatch(/<title>★+☆* Der Process \(Franz Kafka · 1925\)<\/title>/);
  });

  test('counts all of it right, and logs every review', async () => {
    const { stdout } = await spawnAdmin(['audit'], dataDir);
    expect(JSON.parse(stdout)).toMatchObject({ differences: 0 });
    connectTo(dataDir);
    const { differences } = await import('../helpers/recount.ts');
    const { scanTable } = await import('../helpers/items.ts');
    expect(await differences()).toEqual([]);
    const log = (await scanTable()).filter(({ pk }) => pk.startsWith('CHANGES#'));
    const logged = JSON.stringify(log);
    expect(reviews.filter(({ id }) => !logged.includes(id))).toEqual([]);
  });

  test('lets Moderator decide on the one review that was reported', async () => {
    const [, queue = ''] = /sign in as Moderator to moderate: (\S+)/.exec(saidBy(service)) ?? [];
    const browser = openBrowser(new URL('..', `${url}/`).href.replace(/\/$/, ''));
    const form = await browser.visit(queue);
    const shown = await browser.submit(form, 'Sign in', { name: 'Moderator' });
    expect(shown.url).toEqual(queue);
    expect(shown).toHaveStatus(200);
    expect(shown.html.match(/2 reports/g)).toHaveLength(1);
    expect(shown.html.match(/80% OFF/g)).toHaveLength(1);
  });
});

test('a folder that has data stays as it is, and keeps its names', async () => {
  const dataDir = fresh('kept');
  const first = await start(dataDir, { options: ['--demo'], until: complete });
  const { entity } = tryIt(first);
  const all = await allReviews(first.url);
  await spawnAdmin(['user', 'delete', all[0]?.user.id ?? '', '--yes'], dataDir);
  const left = await allReviews(first.url);
  expect(left.length).toBeLessThan(all.length);
  await first.end('SIGTERM');

  const second = await start(dataDir, { options: ['--demo'] });
  expect(saidBy(second)).toContain(
    '  Demo   nothing was added, because there is data already: use --memory or another --data-dir\n',
  );
  const kept = { entity: { id: entity.id }, metadata: { name: 'OK Computer' } };
  expect(tryIt(second)).toMatchObject(kept);
  expect((await allReviews(second.url)).map(({ id }) => id)).toEqual(left.map(({ id }) => id));
  await second.end('SIGTERM');

  const plain = await start(dataDir);
  const named = await allReviews(plain.url);
  expect(named.filter(({ metadata }) => metadata === null)).toEqual([]);
  // Books are described elsewhere, not on the page of the service itself.
  const pages = new Set(named.map(({ metadata }) => new URL(metadata?.url ?? '').host));
  expect([...pages].sort()).toEqual([
    'de.wikipedia.org',
    'en.wikipedia.org',
    'es.wikipedia.org',
    'fr.wikipedia.org',
    'it.wikipedia.org',
    'musicbrainz.org',
  ]);
  const { host } = new URL(plain.url);
  const page = await (await fetch(`http://${host}/ws/entity/${entity.id}`)).text();
  expect(page).toContain('<h1><bdi>OK Computer</bdi></h1>');
  expect(page).toContain('"@type":"MusicAlbum","name":"OK Computer"');
});

test('an interrupted start is continued by the next one', async () => {
  const dataDir = fresh('interrupted');
  const first = await start(dataDir, { options: ['--demo'], until: /Ctrl-C/ });
  const isEmpty = async () => {
    const response = await fetch(`${first.url}/review/?limit=1`);
    return (await response.text()).includes('"reviews":[]');
  };
  while (await isEmpty());
  await first.end('SIGKILL');
  expect(saidBy(first)).not.toContain('complete');

  const second = await start(dataDir, { options: ['--demo'], until: complete });
  const all = await allReviews(second.url);
  expect(all).toHaveLength(200);
  expect(all.filter(({ metadata }) => metadata === null)).toEqual([]);
  const { stdout } = await spawnAdmin(['audit'], dataDir);
  expect(JSON.parse(stdout)).toMatchObject({ differences: 0 });
});

test('beside data of another origin nothing is added', async () => {
  const dataDir = fresh('other');
  const first = await start(dataDir);
  await spawnAdmin(['user', 'create', '--name', 'Ann'], dataDir);
  await first.end('SIGTERM');
  const second = await start(dataDir, { options: ['--demo'] });
  expect(saidBy(second)).toContain('nothing was added');
  expect(tryIt(second)).toHaveProperty('languages');
  expect(await allReviews(second.url)).toEqual([]);
});
