import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { Answer } from '../../shared/core/http/response.ts';
import { openApiAt } from '../../shared/features/docs/public.ts';

export { OpenApi as response } from '../../shared/core/http/presented.ts';
export const request = v.object({});

export const docs = {
  tag: 'Service',
  summary: 'Read this description',
  description: 'OpenAPI 3.1, with the addresses of this service.',
} satisfies Docs<typeof request>;

export const handler = endpoint(
  request,
  () => new Answer(openApiAt(authUrl()), { headers: { 'Cache-Control': 'public, max-age=3600' } }),
);
