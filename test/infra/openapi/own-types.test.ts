/** @jest-environment-options {"variables":{"OWN_TYPES":"game:Board game,film:Film"}} */
import { openApiAt } from '../../../shared/features/docs/openapi.ts';

test('the description of a service lets programs add its own types, and no others', () => {
  const { post } = openApiAt('https://api.example/ws').paths['/entity'];
  const { schema, example } = post.requestBody.content['application/json'];
  expect(schema.properties.entity_type).toEqual({
    description: 'A type of this service',
    type: 'string',
    enum: ['game', 'film'],
  });
  expect(example).toEqual({ entity_type: 'game', name: 'Metropolis' });
});
