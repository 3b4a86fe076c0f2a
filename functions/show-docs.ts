import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { authUrl } from '../shared/auth-url.ts';
import { headResponse } from '../shared/http/response.ts';
import { errorPage } from '../shared/pages/error-page.ts';
import { respond } from '../shared/pages/html-response.ts';

/** The documentation begins with the reference, as long as that is all there is. */
export const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
  .use(headResponse())
  .use(errorPage())
  .handler(() => respond({ location: `${authUrl()}/docs/api` }));
