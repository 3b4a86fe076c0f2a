import { randomUUID } from 'node:crypto';
import { routes } from '../../shared/base/routes.ts';
import { ask } from '../helpers/visit.ts';
import { beginErasure, makeUser, makeUsers, visitor } from '../helpers/world.ts';

// Reviews that others do not see, on every page of one review.

const [author, going, reader] = await makeUsers(3);
const left = await going.publishes();
await beginErasure(going);
const ids = {
  hidden: await author.publishesHidden(),
  'a draft': await author.publishes({ is_draft: true }),
  'of an account that is being deleted': left,
  unknown: randomUUID(),
  'no UUID': 'x',
};

// A deletion that is repeated succeeds, and a vote is refused with a sentence of its own.
const others = /^(confirm-review-deletion|send-vote)$/;
const pages = routes.filter(
  ({ operation, base, path }) =>
    base === '' &&
    /^\/(account\/reviews|review)\/\{review_id\}/.test(path) &&
    !others.test(operation),
);

describe.each(pages)('$method $path', ({ operation }) => {
  test.each(Object.entries(ids))('is a 404 page for a review that is %s', async (_, review_id) => {
    const form = {
      reason: 'spam',
      text: 'A text that is long enough.',
      rating: '4',
      revision: 'x',
    };
    const request = { path: { review_id }, query: { vote: 'up' }, form };
    const { status, headers, html } = await ask(operation, reader, request);
    expect(status).toBe(404);
    expect(headers['cache-control']).toBe('no-store');
    expect(html).toContain('<h1>Review not found</h1>');
  });
});

test.each(['show-review-editor', 'show-review-deletion'])('%s is for the author', async (page) => {
  const review_id = await author.publishes();
  const { status, html } = await ask(page, await makeUser(), { path: { review_id } });
  expect(status).toBe(404);
  expect(html).toContain('<h1>Review not found</h1>');
  expect(await visitor.reads(review_id)).toHaveStatus(200);
});
