import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { headResponse } from '../shared/http/response.ts';
import { requireHttps } from '../shared/http/secure-transport.ts';
import { errorPage } from '../shared/pages/error-page.ts';
import { securityHeaders } from '../shared/pages/html-response.ts';
import { referencePage, referencePolicy } from '../shared/pages/reference-page.ts';

export const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
  .use(headResponse())
  .use(errorPage())
  .handler(async (event) => {
    // Tokens are pasted into it.
    requireHttps(event);
    const cached = { 'Cache-Control': 'public, max-age=300', Vary: 'Accept-Encoding' };
    return {
      statusCode: 200,
      headers: { ...securityHeaders(referencePolicy()), ...cached },
      body: `${await referencePage()}`,
    };
  });
