import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import { toApiError } from '../http/error-response.ts';
import { respond } from './html-response.ts';

/** Turns whatever is thrown into a page, never a redirect, as `errorResponse` does into JSON. Pages know no tokens, so none is asked for. */
export function errorPage(): MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult> {
  return {
    async onError(request) {
      const { requestId } = request.event.requestContext;
      const { status, message, code, headers } = toApiError(request.error, requestId);
      const { 'WWW-Authenticate': _, ...others } = headers;
      const isSignedOut = code === 'not_authorized';
      request.response = await respond({
        status,
        headers: others,
        title: status < 500 ? 'That did not work' : 'Something went wrong',
        content: html`<section>
          <p>${isSignedOut ? 'You are signed out, so nothing was changed' : message}.</p>
          ${status < 500 ? '' : html`<p class="soft">request_id: ${requestId}</p>`}
          <p><a href="${authUrl()}/account">Go to your account</a></p>
        </section>`,
      });
    },
  };
}
