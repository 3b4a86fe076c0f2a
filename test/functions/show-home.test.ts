import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { measure } from '../../bin/bench/measure.ts';
import { handler } from '../../functions/pages/show-home.ts';
import { databaseTypes } from '../../shared/core/entity/databases.ts';
import { decideReview } from '../../shared/core/report/decision-repository.ts';
import { stopClock } from '../helpers/clock.ts';
import { invoke } from '../helpers/invoke.ts';
import { nameEntities } from '../helpers/names.ts';
import { applyStream } from '../helpers/stream.ts';
import { reviewsIn } from '../helpers/visit.ts';
import { makeUser, makeUsers, operator, type Person } from '../helpers/world.ts';

describe('GET /', () => {
  test('explains what to do on an empty service', async () => {
    const { status, body } = await invoke(handler);
    expect(status).toBe(200);
    expect(body).not.toContain('0 reviews');
    expect(body).toContain('Nobody has written a review yet.');
    expect(body).toContain('href="https://api.example/ws/find" rel="noreferrer">Write the first');
    expect(body).toContain('<li>Find an album, event or book by its name.</li>');
    expect(body).not.toContain('What people talk about');
    expect(body).not.toContain('Newest reviews');
    expect(body).toContain('curl "https://api.example/ws/1/review/?limit=3"');
  });

  test('shows the newest five public reviews, and how many there are', async () => {
    const ann = await makeUser({ display_name: 'Ann <b>' });
    const ben = await makeUser();
    const ids: string[] = [];
    for (const text of ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh']) {
      stopClock(Date.now() + 1);
      const said = `This is the ${text} review of all of them.`;
      ids.push(await ann.publishes({ text: said, entity_type: 'bk_literary_work' }));
    }
    stopClock(Date.now() + 1);
    await ben.publishes({ is_draft: true });
    await decideReview(`${ids[5]}`, 'hide', operator);
    await applyStream();
    const { body } = await invoke(handler);
    expect(reviewsIn(body)).toEqual([6, 4, 3, 2, 1].map((i) => ids[i]));
    expect(body).not.toContain('Write the first');
    // Nothing has a name.
    expect(body).not.toContain('What people talk about');
    expect(body).toMatch(new RegExp(`/ws/user/${ann.id}">.*<bdi>Ann &lt;b&gt;</bdi></a>`));
    expect(body).toContain('<bdi>Book without a name</bdi>');
    expect(body).toContain('6 reviews · 2 members');
    expect(body).not.toContain('bk_literary_work');
    expect(body).toMatch(/<meta name="description" content="People’s reviews/);
    expect(body).toMatch(/<meta property="og:title" content="Open reviews">/);
    for (const path of ['docs', 'docs/api', 'account/tokens', 'reviews', 'find']) {
      expect(body).toContain(`href="https://api.example/ws/${path}"`);
    }
  });

  test('has two of the newest reviews of one member before a third', async () => {
    const [ann, ben, cleo] = await makeUsers(3);
    const ids: string[] = [];
    for (const person of [cleo, ben, ann, ann, ann, ann]) {
      stopClock(Date.now() + 1);
      ids.push(await person.publishes());
    }
    await applyStream();
    const { body } = await invoke(handler);
    expect(reviewsIn(body).slice(0, 4)).toEqual([5, 4, 1, 0].map((i) => ids[i]));
  });

  test('begins with the six most reviewed things, then has reviews of one thing together', async () => {
    const people = await makeUsers(4);
    const things = Array.from({ length: 7 }, (_, i) => ({
      entity_id: randomUUID(),
      entity_type: i === 3 ? 'event' : 'release_group',
    }));
    const names = ['One', 'Two', 'Three', 'Four', 'Five', 'Six', '<i>Seven</i>'];
    const named = (i: number) => ({ [`${things[i]?.entity_id}`]: `${names[i]}` });
    await nameEntities(named(3), 'event');
    for (const i of [0, 1, 2, 4, 5, 6]) await nameEntities(named(i));
    const publish = (by: number, i: number, content: object = {}) => {
      stopClock(Date.now() + 1_000);
      return people[by]?.publishes({ ...things[i], ...content });
    };
    for (const [i, reviews] of [1, 2, 2, 3, 2, 2, 4].entries()) {
      for (let by = 0; by < reviews; by++) await publish(by, i, { rating: 5 - by });
    }
    const newest = [await publish(3, 3), await publish(3, 0), await publish(2, 4)];
    await applyStream();
    const { body } = await invoke(handler);
    const [shelf = '', list = ''] = `${body}`.split('<h2>Newest reviews</h2>');
    const namesIn = (part: string) =>
      [...part.matchAll(/<h3><a [^>]*><bdi>(.*?)<\/bdi>/g)].map(([, each]) => each);
    // Of equal ones, that with the later first review.
    const order = ['&lt;i&gt;Seven&lt;/i&gt;', 'Four', 'Five', 'Six', 'Three', 'Two'];
    expect(namesIn(shelf)).toEqual(order);
    expect(shelf).toMatch(/aria-label="3.5 of 5 stars".*<span class="soft">4 reviews</);
    expect(shelf).toContain(`/ws/entity/${things[6]?.entity_id}?entity_type=release_group"`);
    // The last written are of five, one, four, and seven, which has two.
    expect(namesIn(list)).toEqual(['Five', 'One', 'Four', '&lt;i&gt;Seven&lt;/i&gt;']);
    expect(reviewsIn(list).slice(0, 3)).toEqual(newest.toReversed());
    expect(reviewsIn(list)).toHaveLength(5);
  });

  test('quotes the best-loved text of the week, which two readers more found helpful', async () => {
    const start = Date.now();
    const [ann, ben, ...readers] = await makeUsers(6);
    const days = (number: number) => stopClock(start + number * 86_400_000);
    const publish = async (person: Person | undefined, text: string | null, votes: number) => {
      const id = `${await person?.publishes({ text, rating: 4 })}`;
      for (const reader of readers.slice(0, votes)) await reader.votes(id);
      return id;
    };
    const quoteOn = async () => {
      await applyStream();
      const body = `${(await invoke(handler)).body}`;
      const [, heading, quote] = /<h2>([^<]*)<\/h2>\s*<blockquote[^>]*>([^<]*)/.exec(body) ?? [];
      return { heading, quote: quote?.slice(0, 9), ids: reviewsIn(body) };
    };
    days(20);
    await publish(ann, 'The old one was loved, and it is still there to read.', 4);
    days(26.9);
    expect(await quoteOn()).toMatchObject({ heading: 'Best-loved this week', quote: 'The old o' });
    days(27.1);
    // Among those of all weeks.
    expect(await quoteOn()).toMatchObject({ heading: 'Loved by readers' });
    await publish(ben, 'The small one of this week has one vote, of a friend.', 1);
    const rated = await publish(ben, 'Its text is taken away after three have voted on it.', 3);
    await ben?.edits(rated, { text: null });
    expect(await quoteOn()).toMatchObject({ heading: 'Loved by readers' });
    const loved = await publish(ann, `The best <b> of this week ${'goes on '.repeat(40)}`, 3);
    await publish(ben, 'The second one of this week has a vote less.', 2);
    const { ids, ...shown } = await quoteOn();
    expect(shown).toEqual({ heading: 'Best-loved this week', quote: 'The best ' });
    // It counts among the five, and is not among the newest again.
    expect([ids.length, ids.includes(loved)]).toEqual([4, false]);
    const body = `${(await invoke(handler)).body}`;
    expect(body).toMatch(/lang="en" dir="auto">The best &lt;b&gt; of [^<]*goes…<\/blockquote>/);
    expect(body).toContain('Helpful to 3 readers.');
    await decideReview(loved, 'hide', operator);
    expect(await quoteOn()).toMatchObject({ quote: 'The secon' });
  });

  test('costs twelve units, with the widest names of the four types with most reviews', async () => {
    const wide = '\u{1f3b7}'.repeat(200);
    const people = await makeUsers(5);
    const most = ['artist', 'label', 'place'];
    for (const [i, entity_type] of databaseTypes.entries()) {
      for (let n = 0; n < (most.includes(entity_type) ? 6 : 1); n++) {
        const entity = { entity_id: randomUUID(), entity_type };
        stopClock(Date.now() + 1);
        await nameEntities({ [entity.entity_id]: wide }, entity_type);
        await people[(i + n) % 5]?.publishes(entity);
      }
    }
    await applyStream();
    const { read, write, roundTrips, body } = await measure('show-home', {});
    expect([read <= 12, write, roundTrips <= 3]).toEqual([true, 0, true]);
    const [shelf = ''] = `${body}`.split('<h2>Newest reviews</h2>');
    const types = [...shelf.matchAll(/entity_type=(\w+)"/g)].map(([, type]) => type);
    // Of the test before, and of the type with most reviews.
    expect(types).toEqual(Array(6).fill('release_group'));
    // The fifth is quoted.
    expect(body).toContain('<blockquote');
    expect(reviewsIn(body)).toHaveLength(4);
  });
});
