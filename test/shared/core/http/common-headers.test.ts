import { handler as getOpenApi } from '../../../../functions/api/get-openapi.ts';
import { handler as listLanguages } from '../../../../functions/api/list-languages.ts';
import { handler as listReviews } from '../../../../functions/api/list-reviews.ts';
import { handler as noRoute } from '../../../../functions/api/no-route.ts';
import { handler as showDocs } from '../../../../functions/pages/show-docs.ts';
import { invoke } from '../../../helpers/invoke.ts';

const page = { headers: { accept: 'text/html' }, path: { proxy: 'x' } };
const answers: [string, unknown, Parameters<typeof invoke>[1]][] = [
  ['an answer', listLanguages, {}],
  ['the OpenAPI document', getOpenApi, {}],
  ['a refusal', listReviews, { query: { limit: 'x' } }],
  ['an unknown path', noRoute, { path: { proxy: '1/x' } }],
  ['the way to the documents', noRoute, { path: { proxy: '1' } }],
  ['a page', showDocs, {}],
  ['an unknown page', noRoute, page],
];

test.each(answers)(
  'Strict-Transport-Security is sent with %s over HTTPS, and not over plain HTTP',
  async (_, handler, request) => {
    process.env.AUTH_URL = 'https://api.example/ws';
    const { headers } = await invoke(handler, request);
    expect(headers['strict-transport-security']).toBe('max-age=31536000');
    process.env.AUTH_URL = 'http://localhost:3000/ws';
    const plain = await invoke(handler, request);
    expect(plain.headers).not.toHaveProperty('strict-transport-security');
  },
);

test('scripts can read the ids of a request, also of a refused one', async () => {
  for (const query of [{ limit: 'x' }, undefined]) {
    const { headers } = await invoke(query ? listReviews : listLanguages, { query });
    const exposed = headers['access-control-expose-headers']?.split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['x-amzn-RequestId', 'x-amz-apigw-id']));
  }
});
