/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film","SHOWN_GROUPS":"own"}} */
import { randomUUID } from 'node:crypto';
import { handler as getOpenapi } from '../../functions/api/get-openapi.ts';
import { handler as listReviews } from '../../functions/api/list-reviews.ts';
import type { Entity } from '../../shared/core/entity/record.ts';
import { getUser } from '../../shared/core/user/user-repository.ts';
import { addEntity } from '../../shared/features/names/correction.ts';
import { invoke } from '../helpers/invoke.ts';
import { filledForm, publishForm } from '../helpers/review-form.ts';
import { applyStream } from '../helpers/stream.ts';
import { pageFor } from '../helpers/visit.ts';
import { makeUser, reviewBody } from '../helpers/world.ts';

// A place about films alone.

test('a review of another type is refused by the API and the form, and of a film is not', async () => {
  const ann = await makeUser();
  const film = { entity_id: randomUUID(), entity_type: 'film' } as never;
  const user = await getUser(ann.id);
  await addEntity(film, { name: 'Metropolis', about: undefined, url: undefined }, user);
  const album = { entity_id: randomUUID(), entity_type: 'release_group' };
  const refused = await ann.triesToPublish(reviewBody(album));
  expect(refused).toHaveStatus(400);
  expect(refused.body.description).toBe('entity_type must be one of film');
  expect(await publishForm(ann, album, filledForm())).toHaveStatus(400);
  expect(await ann.triesToPublish(reviewBody(film))).toHaveStatus(200);
});

test('the description of the API offers films for a new review, and all types as a filter', async () => {
  const { body } = await invoke(getOpenapi, {});
  const { paths, components } = body;
  const { schema, example } = paths['/review'].post.requestBody.content['application/json'];
  expect(schema.properties.entity_type.enum).toEqual(['film']);
  expect(example.entity_type).toBe('film');
  expect(components.schemas.EntityType.enum).toContain('release_group');
  expect(await invoke(listReviews, { query: { entity_type: 'musicdb' } })).toHaveStatus(200);
});

test('the guides speak of a film that is here', async () => {
  const ann = await makeUser();
  const user = await getUser(ann.id);
  const film = { entity_id: randomUUID(), entity_type: 'film' } as never as Entity;
  await addEntity(film, { name: 'Fish & <Chips>', about: undefined, url: undefined }, user);
  await ann.publishes({ ...film });
  await applyStream();
  for (const guide of ['quickstart', 'publishing', 'lists', 'embed']) {
    const html = await pageFor('show-guide', ann, { path: { guide } });
    expect([guide, html.match(/release_group|Kind of Blue|\balbum/)]).toEqual([guide, null]);
  }
  const html = await pageFor('show-guide', ann, { path: { guide: 'quickstart' } });
  expect(html).toContain(film.entity_id);
  expect(html).toContain('“Fish &amp; &lt;Chips>”');
});
