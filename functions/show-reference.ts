import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { html } from 'hono/html';
import { authUrl } from '../shared/auth-url.ts';
import { headResponse } from '../shared/http/response.ts';
import { requireHttps } from '../shared/http/secure-transport.ts';
import { openApiAt } from '../shared/openapi.ts';
import { errorPage } from '../shared/pages/error-page.ts';
import { securityHeaders } from '../shared/pages/html-response.ts';
import { routes, version } from '../shared/routes.ts';

const { path: scriptPath = '' } =
  routes.find(({ operation }) => operation === 'get-reference-script') ?? {};

/** The reference for people: a renderer (Scalar) shows the API's description, and where no script runs there is a plain list. */
export const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
  .use(headResponse())
  .use(errorPage())
  .handler(async (event) => {
    // Tokens are pasted into it.
    requireHttps(event);
    const { info, paths, servers } = openApiAt(authUrl());
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, operation]) => {
        const [server] = 'servers' in item ? item.servers : servers;
        const line = `${method.toUpperCase()} ${new URL(`${server?.url}`).pathname}${path}`;
        return 'summary' in operation ? [{ line, summary: operation.summary }] : [];
      }),
    );
    const page = html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>API reference · ${info.title}</title>
  </head>
  <body>
    <noscript>
      <h1>${info.title}: API reference</h1>
      <p>${info.summary}.</p>
      <p>With JavaScript one can search and try it here. All there is to know is in the
        <a href="${authUrl()}${version}/openapi.json">OpenAPI document</a>.</p>
      <ul>
        ${operations.map(({ line, summary }) => html`<li><code>${line}</code> ${summary}</li>`)}
      </ul>
    </noscript>
    <script id="api-reference" data-configuration="${JSON.stringify(configuration())}"></script>
    <script src="${authUrl()}${scriptPath}"></script>
  </body>
</html>`;
    return { statusCode: 200, headers: headers(), body: `${await page}` };
  });

/** See Scalar's documentation: what is off would ask other servers, or offer to. */
function configuration() {
  return {
    url: `${authUrl()}${version}/openapi.json`,
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    documentDownloadType: 'direct',
    authentication: { preferredSecurityScheme: 'bearer' },
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  };
}

/** The renderer writes its styles into the page; everything it loads or asks is on this very server. */
function headers() {
  const policy = [
    "script-src 'self'",
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'none'",
  ];
  const cached = { 'Cache-Control': 'public, max-age=300', Vary: 'Accept-Encoding' };
  return { ...securityHeaders(policy), ...cached };
}
