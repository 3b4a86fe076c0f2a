import { randomUUID } from 'node:crypto';
import { handler } from '../../functions/api/get-review.ts';
import { reviewKey } from '../../shared/core/keys.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { invoke } from '../helpers/invoke.ts';
import { setAttributes } from '../helpers/items.ts';
import { beginErasure, makeUser, text } from '../helpers/world.ts';

const author = await makeUser({ display_name: 'Zoë 🎵' });

const get = (review_id: string) => invoke(handler, { path: { review_id } });

describe('GET /review/{review_id}', () => {
  test('returns the whole review', async () => {
    const entity_id = randomUUID();
    const id = await author.publishes({ entity_id });
    await (await makeUser()).votes(id, 'down');
    await setAttributes(reviewKey(id), {
      created: '2024-02-29T12:34:56.789Z',
      published_on: '2024-03-01T00:00:00.000Z',
      last_updated: '2024-12-31T23:59:59.999Z',
    });
    const { status, headers, body } = await get(id);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'access-control-allow-origin': '*',
    });
    expect(body).toEqual({
      review: {
        id,
        entity_id,
        entity_type: 'release_group',
        text,
        rating: 4,
        language: 'en',
        license: {
          id: 'CC BY-SA 3.0',
          full_name: 'Creative Commons Attribution-ShareAlike 3.0 Unported',
          info_url: 'https://creativecommons.org/licenses/by-sa/3.0/',
        },
        created: 'Thu, 29 Feb 2024 12:34:56 GMT',
        published_on: 'Fri, 01 Mar 2024 00:00:00 GMT',
        last_updated: 'Tue, 31 Dec 2024 23:59:59 GMT',
        edits: 0,
        popularity: -1,
        source: null,
        source_url: null,
        user: {
          id: author.id,
          display_name: 'Zoë 🎵',
          created: new Date(author.created).toUTCString(),
          karma: -1,
          user_type: 'Noob',
        },
        votes: { positive: 0, negative: 1 },
      },
    });
  });

  test('returns 404 for drafts, hidden reviews and reviews of an account being deleted', async () => {
    const draft = await author.publishes({ is_draft: true });
    const hidden = await author.publishesHidden();
    const going = await makeUser();
    const left = await going.publishes();
    await beginErasure(going);
    for (const id of [draft, hidden, left]) expect(await get(id)).toHaveStatus(404);
    await setHidden(hidden, false);
    expect(await get(hidden)).toHaveStatus(200);
  });
});
