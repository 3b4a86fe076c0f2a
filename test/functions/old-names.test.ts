import { randomUUID } from 'node:crypto';
import { pageFor } from '../helpers/visit.ts';
import { makeUser, visitor } from '../helpers/world.ts';

// Names that clients of CritiqueBrainz send. The contract states what they mean.

test('the API names none of them in a description of an error', async () => {
  const { status, body } = await visitor.lists({ entity_type: 'bb_album' });
  expect(status).toBe(400);
  expect(body.description).toMatch(/^entity_type must be one of .*bk_author/);
  expect(body.description).not.toMatch(/bb_|brainz/);
});

test('the form of a review takes bb_ in its link', async () => {
  const query = { entity_id: randomUUID(), entity_type: 'bb_author' };
  const html = await pageFor('show-review-form', await makeUser(), { query });
  expect(html).toContain('bk_author');
  expect(html).not.toContain('bb_author');
});
