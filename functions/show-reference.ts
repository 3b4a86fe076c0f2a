import { html, raw } from 'hono/html';
import { authUrl } from '../shared/auth-url.ts';
import { requireHttps } from '../shared/http/read-request.ts';
import { openApiAt } from '../shared/openapi.ts';
import { browserHandler } from '../shared/pages/error-page.ts';
import { securityHeaders } from '../shared/pages/html-response.ts';
import { icon } from '../shared/pages/layout.ts';
import * as assets from '../shared/pages/reference-assets.ts';
import { sourceOf } from '../shared/pages/style.ts';
import { version } from '../shared/routes.ts';

/**
 * Starts Swagger UI. The sandbox of the page forbids forms, so a click on a submit button is passed
 * to Swagger UI. New windows would be sandboxed too and have no session, so links open in this
 * window. For the same reason, nobody can consent to an application from here.
 */
const start = `
const scheme = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', scheme.matches);
scheme.addEventListener('change', follow);
follow();
addEventListener('click', (event) => {
  event.target.closest('a[target]')?.removeAttribute('target');
  const button = event.target.closest('button[type=submit]');
  if (!button?.form) return;
  event.preventDefault();
  // Otherwise the button that Swagger UI shows next, which removes the credentials, would get the
  // click.
  event.stopPropagation();
  button.form.dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }));
}, true);
const withoutConsent = (select) => (...args) =>
  select(...args)?.map((schemes) => schemes.delete('oauth2')).filter((schemes) => schemes.size > 0);
const wrapSelectors = {
  definitionsToAuthorize: withoutConsent,
  definitionsForRequirements: withoutConsent,
};
SwaggerUIBundle({
  domNode: document.getElementById('reference'),
  url: document.getElementById('reference').dataset.url,
  plugins: [{ statePlugins: { auth: { wrapSelectors } } }],
  deepLinking: true,
  filter: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: false,
  validatorUrl: null,
});
`;

const look = `
html { color-scheme: light; }
html.dark-mode { color-scheme: dark; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
body > header, noscript { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; max-width: 1460px; margin: 0 auto; padding: .75rem 20px; }
noscript { display: block; }
/* No operation has links. */
.response-col_links { display: none; }
body > header a { color: inherit; padding: .25rem 0; }
`;

/** Shows the API reference to people: Swagger UI, or a plain list without JavaScript. */
export const handler = browserHandler((event) => {
  // People paste tokens into this page.
  requireHttps(event);
  const cached = { 'Cache-Control': 'public, max-age=300', Vary: 'Accept-Encoding' };
  return {
    statusCode: 200,
    headers: { ...securityHeaders(referencePolicy()), ...cached },
    body: `${referencePage()}`,
  };
});

/**
 * The content security policy of the reference. Its sandbox keeps all scripts out of the origin of
 * the sessions. It names that origin, because 'self' is another origin in a sandbox.
 */
function referencePolicy() {
  const { origin } = new URL(authUrl());
  return [
    'sandbox allow-scripts allow-popups allow-downloads',
    `script-src ${origin} ${sourceOf(start)}`,
    `style-src ${origin} ${sourceOf(look)}`,
    'img-src data:',
    `connect-src ${origin}`,
    "form-action 'none'",
  ];
}

function referencePage() {
  const at = authUrl();
  const { info, paths, servers } = openApiAt(at);
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => {
      const [server] = 'servers' in item ? item.servers : servers;
      const line = `${method.toUpperCase()} ${new URL(`${server?.url}`).pathname}${path}`;
      return 'summary' in operation ? [{ line, summary: operation.summary }] : [];
    }),
  );
  const description = `${at}${version}/openapi.json`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · Reviews</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${at}/docs/api/${assets.style}">
<style>${raw(look)}</style>
</head>
<body>
<header>
<a href="${at}/">Reviews</a>
<a href="${at}/docs">Guides</a>
<a href="${at}/account/tokens">Get a token</a>
<a href="${description}">OpenAPI document</a>
</header>
<div id="reference" data-url="${description}"></div>
<noscript>
<h1>${info.title}: API reference</h1>
<p>${info.summary}.</p>
<p>Turn on JavaScript to search the reference and try requests here. The <a href="${description}">OpenAPI document</a> has the same content.</p>
<ul>
${operations.map(({ line, summary }) => html`<li><code>${line}</code> ${summary}</li>`)}
</ul>
</noscript>
<script src="${at}/docs/api/${assets.script}"></script>
<script>${raw(start)}</script>
</body>
</html>`;
}
