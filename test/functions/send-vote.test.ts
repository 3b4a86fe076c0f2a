import { randomUUID } from 'node:crypto';
import { reviewKey } from '../../shared/core/keys.ts';
import { decideUser } from '../../shared/features/moderation/account-decisions.ts';
import { readItem } from '../helpers/items.ts';
import { routeOf } from '../helpers/routes.ts';
import { ask, pageFor, requestPage, signInAs, textIn } from '../helpers/visit.ts';
import { makeUser, operator, type Person } from '../helpers/world.ts';

const at = 'https://api.example/ws';
const author = await makeUser({ display_name: 'Zoë <i>' });

const vote = (person: Person, review_id: string, query: Record<string, string>, form = {}) =>
  ask('send-vote', person, { path: { review_id }, query, form });
const see = (person: Person, review_id: string, operation = 'show-review') =>
  ask(operation, person, { path: { review_id } });
const notice = ({ headers }: { headers: Record<string, string> }) => headers.location;

async function votesOf(review_id: string) {
  const { votes_positive, votes_negative, popularity }: Record<string, unknown> =
    (await readItem(reviewKey(review_id))) ?? {};
  return {
    up: Number(votes_positive),
    down: Number(votes_negative),
    popularity: Number(popularity),
  };
}

describe('POST /review/{review_id}/vote for people', () => {
  test('casts, changes and takes back a vote, and returns to the review', async () => {
    const ben = await makeUser();
    const id = await author.publishes();
    for (const [choice, up, down, own, buttons] of [
      ['up', 1, 0, 'You said yes.', ['down', 'none']],
      ['up', 1, 0, 'You said yes.', ['down', 'none']],
      ['down', 0, 1, 'You said no.', ['up', 'none']],
      ['none', 0, 0, 'You can vote on 9 more reviews today (UTC).', ['up', 'down']],
      ['none', 0, 0, 'You can vote on 9 more reviews today (UTC).', ['up', 'down']],
    ] as const) {
      const answer = await vote(ben, id, { vote: choice });
      expect([answer.status, notice(answer)]).toEqual([303, `${at}/review/${id}#vote`]);
      expect(await votesOf(id)).toEqual({ up, down, popularity: up - down });
      const { html } = await see(ben, id);
      expect(textIn(html)).toMatch(new RegExp(`Yes ${up}.*No ${down}|No ${down}.*Yes ${up}`));
      expect(textIn(html)).toContain(own);
      const offered = [...html.matchAll(/formaction="[^"]*\/vote\?vote=(\w+)"/g)];
      expect(offered.map(([, name]) => name)).toEqual(buttons);
    }
  });

  test('says how many votes are left today, and refuses another one as the API does', async () => {
    const ben = await makeUser();
    const id = await author.publishes();
    for (let i = 0; i < 9; i++) await ben.votes(await author.publishes());
    expect(textIn((await see(ben, id)).html)).toContain('You can vote on 1 more review today');
    const last = await author.publishes();
    await ben.votes(last);
    expect(textIn((await see(ben, last)).html)).toContain(
      'You have no new votes left today (UTC).',
    );
    const { body } = await ben.triesToVote(id, { vote: true });
    const sentence =
      'With your karma you may vote on 10 reviews a day (UTC); changing a vote is always possible';
    expect(body.description).toBe(sentence);
    const refused = await vote(ben, id, { vote: 'up' });
    expect([refused.status, refused.html.includes(`<p>${sentence}.</p>`)]).toEqual([403, true]);
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    for (const page of ['show-review', 'show-vote']) {
      const { html } = await see(ben, id, page);
      expect(html).toContain(`<p>${sentence}.</p>`);
      expect(html).not.toContain('formaction');
    }
    expect(await vote(ben, last, { vote: 'down' })).toHaveStatus(303);
  });

  test.each([
    ['the own review', 'You cannot vote on your own review', 400],
    ['a review without text', 'A review without text cannot be voted on', 400],
    ['a hidden review', 'Review not found', 404],
    ['a deleted review', 'Review not found', 404],
    ['a draft', 'Review not found', 404],
  ])('refuses %s with the sentence of the API', async (what, sentence, status) => {
    const ben = await makeUser();
    const ids: Record<string, () => Promise<string>> = {
      'the own review': () => ben.publishes(),
      'a review without text': () => author.publishes({ text: null }),
      'a hidden review': () => author.publishesHidden(),
      'a deleted review': async () => randomUUID(),
      'a draft': () => author.publishes({ is_draft: true }),
    };
    const id = (await ids[what]?.()) ?? '';
    const { status: refusal, body } = await ben.triesToVote(id, { vote: true });
    expect([refusal, body.description]).toEqual([status, sentence]);
    const answer = await vote(ben, id, { vote: 'up' });
    expect(answer).toHaveStatus(status);
    expect(answer.html).toContain(`<p>${sentence}.</p>`);
    expect(answer.html).toContain('>Go back to the page</a>');
  });

  test('explains to a blocked account that it cannot vote', async () => {
    const ben = await makeUser();
    const id = await author.publishes();
    await ben.votes(id);
    await decideUser(ben.id, 'block', operator);
    const sentence =
      'A moderator has blocked this account: it can read and be deleted, but not write';
    for (const page of ['show-review', 'show-vote']) {
      const { status, html } = await see(ben, id, page);
      expect(status).toBe(200);
      expect(html).toContain(`<p>${sentence}.</p>`);
      expect(html).not.toContain('formaction');
    }
    const list = await pageFor('show-user', ben, { path: { user_id: author.id } });
    expect(list).toContain(`href="${at}/review/${id}#vote"><span class="chip">Yes `);
    expect(list).not.toContain('formaction');
    for (const choice of ['up', 'none']) {
      const answer = await vote(ben, id, { vote: choice });
      expect([answer.status, answer.html.includes(sentence)]).toEqual([403, true]);
    }
    expect(await votesOf(id)).toMatchObject({ up: 1 });
  });

  test('is one vote, however often its form arrives at once', async () => {
    const ben = await makeUser();
    const id = await author.publishes();
    const { cookie, csrf } = await signInAs(ben.id);
    const send = (choice: string) =>
      requestPage(routeOf('send-vote'), {
        path: { review_id: id },
        query: { vote: choice },
        headers: { cookie },
        form: { csrf },
      });
    const all = await Promise.all(Array.from({ length: 10 }, () => send('up')));
    expect(all.map(({ status }) => status)).toEqual(Array(10).fill(303));
    expect(await votesOf(id)).toEqual({ up: 1, down: 0, popularity: 1 });
    expect(textIn((await see(ben, id)).html)).toContain('You can vote on 9 more reviews');
    const back = await Promise.all(Array.from({ length: 10 }, () => send('none')));
    expect(back.map(({ status }) => status)).toEqual(Array(10).fill(303));
    expect(await votesOf(id)).toEqual({ up: 0, down: 0, popularity: 0 });
  });

  test('leads back to the vote that was chosen where the form is of no session', async () => {
    const id = await author.publishes();
    const { cookie, csrf } = await signInAs((await makeUser()).id);
    for (const [headers, form, status, way] of [
      [{ cookie }, {}, 403, `${at}/review/${id}/vote?vote=up`],
      [{}, { csrf }, 401, 'vote%3Fvote%3Dup'],
    ] as [Record<string, string>, Record<string, string>, number, string][]) {
      const request = { path: { review_id: id }, query: { vote: 'up' }, headers, form };
      const answer = await requestPage(routeOf('send-vote'), request);
      expect(answer).toHaveStatus(status);
      expect(answer.body).toContain(way);
    }
    expect(await votesOf(id)).toMatchObject({ up: 0 });
  });

  test.each([
    ['x', { vote: 'up' }, {}, 404],
    ["' OR 1=1 --", { vote: 'up' }, {}, 404],
    ['', { vote: 'up' }, {}, 404],
    [randomUUID(), {}, {}, 400],
    [randomUUID(), { vote: 'sideways' }, {}, 400],
    [randomUUID(), { vote: '\u0000' }, {}, 400],
    [randomUUID(), { vote: 'up' }, { return_to: '🎷'.repeat(500) }, 400],
    [randomUUID(), { vote: 'up' }, { return_to: '\r\nSet-Cookie: a=b' }, 404],
  ])('answers %j %j with a page', async (id, query, form, status) => {
    const answer = await vote(author, id, query as Record<string, string>, form);
    expect(answer).toHaveStatus(status);
    expect(answer.html).toContain('<h1>');
  });

  test('returns to a list of ours, and nowhere else', async () => {
    const ben = await makeUser();
    const id = await author.publishes();
    for (const [return_to, expected] of [
      [`${at}/user/${author.id}?cursor=a%20b`, `${at}/user/${author.id}?cursor=a%20b#review-${id}`],
      ['https://evil.example/ws/', `${at}/account#review-${id}`],
      [`${at}/reviews#x`, `${at}/reviews#review-${id}`],
      ['\r\nSet-Cookie: a=b', `${at}/account#review-${id}`],
    ] as const) {
      const { status, headers } = await vote(ben, id, { vote: 'up' }, { return_to });
      expect([status, headers.location]).toEqual([303, expected]);
    }
  });
});

describe('GET /review/{review_id}/vote for people', () => {
  test('casts no vote, and asks for one click', async () => {
    const ben = await makeUser();
    const id = await author.publishes();
    const html = await pageFor('show-vote', ben, {
      path: { review_id: id },
      query: { vote: 'down' },
    });
    expect(await votesOf(id)).toMatchObject({ up: 0, down: 0 });
    expect(html.match(/formaction="([^"]*)"/g)).toEqual([
      `formaction="${at}/review/${id}/vote?vote=down"`,
    ]);
    expect(html).toContain('<bdi>Zoë &lt;i&gt;</bdi>');
  });

  test('offers both for another word, and what remains after a vote', async () => {
    const ben = await makeUser();
    const id = await author.publishes();
    const offered = async (choice: string) => {
      const query = { vote: choice };
      const html = await pageFor('show-vote', ben, { path: { review_id: id }, query });
      return [...html.matchAll(/formaction="[^"]*vote=(\w+)"/g)].map(([, name]) => name);
    };
    expect(await offered('sideways')).toEqual(['up', 'down']);
    await ben.votes(id);
    expect(await offered('up')).toEqual(['down', 'none']);
    expect(await offered('none')).toEqual(['none']);
  });
});
